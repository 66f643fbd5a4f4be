package serve

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// router is the handler of an address: the contract's handler under the base
// path, and health and the web page outside it. It replaces http.ServeMux, which
// cleans paths and redirects, and http.StripPrefix, which copies every request.
type router struct {
	handler  http.Handler
	page     http.Handler // nil: none
	ready    func(context.Context) error
	draining *atomic.Bool
	inFlight *atomic.Int64 // requests
}

func (rt *router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rt.inFlight.Add(1)
	defer rt.inFlight.Add(-1)
	// A chunked request may also have had a length, which a proxy in front may
	// have used. So nothing after it on the connection can be trusted (RFC
	// 9112, section 6.1).
	if rt.draining.Load() || len(r.TransferEncoding) > 0 {
		w.Header()["Connection"] = []string{"close"}
	}
	get := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case get && r.URL.Path == "/healthz":
		health(w, r, nil)
	case get && r.URL.Path == "/readyz":
		health(w, r, rt.readiness(r.Context()))
	case rt.page != nil && (r.URL.Path == "/" || r.URL.Path == "/about"):
		rt.page.ServeHTTP(w, r)
	default:
		// The request is the server's own, so its URL can be changed in place.
		r.URL.Path, r.URL.RawPath = below(r.URL), ""
		rt.handler.ServeHTTP(w, r)
		return
	}
	httpapi.DiscardBody(r) // as the handler does by itself
}

// basePath is the path before those of the contract.
const basePath = "/v1"

// below returns the path of u without the base path at its start. For a path outside
// it returns "", which the handler responds to with 404. A slash that was sent as
// %2F is part of a segment (RFC 3986, section 2.4), and no path that is served has
// such a segment.
func below(u *url.URL) string {
	rest, ok := strings.CutPrefix(u.Path, basePath)
	if !ok || rest != "" && rest[0] != '/' || strings.Contains(strings.ToUpper(u.RawPath), "%2F") {
		return ""
	}
	return rest
}

// readyTimeout bounds how long /readyz waits for the store.
const readyTimeout = 2 * time.Second

// readiness returns why requests should be sent elsewhere.
func (rt *router) readiness(ctx context.Context) error {
	if rt.draining.Load() {
		return petstore.Errorf(petstore.CodeUnavailable, "the server is stopping")
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if err := rt.ready(ctx); err != nil {
		return &petstore.Error{Code: petstore.CodeUnavailable, Message: "the store cannot be used now", Err: err}
	}
	return nil
}

// health responds with 200 unless there is an error.
func health(w http.ResponseWriter, r *http.Request, err error) {
	w.Header().Set("Cache-Control", "no-store")
	if err != nil {
		httpapi.WriteError(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "ok\n")
}
