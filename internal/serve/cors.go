package serve

import (
	"net/http"
	"regexp"
	"slices"

	"example.com/animalstore/internal/flags"
)

var (
	// originForm is an origin as a browser sends it (RFC 6454, section 7), which
	// leaves out the port that the scheme implies.
	originForm  = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]+)?$`)
	impliedPort = regexp.MustCompile(`^(http://.*:80|https://.*:443)$`)
)

// checkOrigins returns an error for what is neither an origin nor * for all of them.
func checkOrigins(origins []string) error {
	for _, o := range origins {
		if o != "*" && !originForm.MatchString(o) || impliedPort.MatchString(o) {
			return flags.Usagef("-cors: %q: must be an origin as browsers send it, such as https://pets.example, or *", o)
		}
	}
	return nil
}

// allowOrigins lets web pages of the origins send requests to next and read the
// responses, by the CORS protocol of the Fetch standard. It does not allow
// credentials, which are cookies and others that a browser adds itself. An API key
// is not one of them: the page sends it, and must know it.
//
// A preflight request, which carries no key, gets the same response for every
// path. Some tools look for the methods, although browsers allow them without.
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
			h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST")
			h.Set("Access-Control-Allow-Headers", "Authorization, *") // * alone does not include it
			h.Set("Access-Control-Max-Age", "7200")                   // seconds; browsers keep it no longer
			w.WriteHeader(http.StatusNoContent)
			return
		}
		h.Set("Access-Control-Expose-Headers", "*")
		next.ServeHTTP(w, r)
	})
}
