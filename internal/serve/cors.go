package serve

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

var (
	// originForm is an origin as a browser sends it (RFC 6454, section 7), which
	// leaves out the port that the scheme implies.
	originForm  = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]+)?$`)
	impliedPort = regexp.MustCompile(`^(http://.*:80|https://.*:443)$`)
)

// parseOrigins reads a list of origins, or * for every origin.
func parseOrigins(s string) ([]string, error) {
	if s == "" {
		return nil, nil
	}
	origins := strings.Split(s, ",")
	for _, o := range origins {
		if o != "*" && !originForm.MatchString(o) || impliedPort.MatchString(o) {
			return nil, fmt.Errorf("%q: must be an origin as browsers send it, such as https://pets.example, or *", o)
		}
	}
	return origins, nil
}

// What the pages of other sites need of the contract's operations. Its methods,
// GET, HEAD and POST, are allowed to every page, but some tools look for them.
const (
	corsMethods   = "GET, HEAD, POST"
	corsRequests  = "Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-ID, traceparent, tracestate"
	corsResponses = "Allow, Deprecation, ETag, Link, Location, Retry-After, Sunset, WWW-Authenticate, X-Request-ID"
	corsMaxAge    = "7200" // seconds; browsers keep the response to a preflight no longer
)

// allowOrigins lets web pages of the origins send requests to next and read the
// responses, by the CORS protocol of the Fetch standard. It does not allow
// credentials, which are cookies and others that a browser adds itself. An API key
// is not one of them: the page sends it, and must know it.
//
// A preflight request, which carries no key, gets the same response for every
// path.
func allowOrigins(origins []string, next http.Handler) http.Handler {
	if len(origins) == 0 {
		return next
	}
	every := slices.Contains(origins, "*")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Vary", "Origin")
		origin := r.Header.Get("Origin")
		switch {
		case !every && !slices.Contains(origins, origin):
			next.ServeHTTP(w, r)
			return
		case every:
			origin = "*"
		}
		h.Set("Access-Control-Allow-Origin", origin)
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			h.Set("Access-Control-Allow-Methods", corsMethods)
			h.Set("Access-Control-Allow-Headers", corsRequests)
			h.Set("Access-Control-Max-Age", corsMaxAge)
			w.WriteHeader(http.StatusNoContent)
			return
		}
		h.Set("Access-Control-Expose-Headers", corsResponses)
		next.ServeHTTP(w, r)
	})
}
