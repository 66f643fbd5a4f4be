package serve

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"example.com/animalstore/internal/request"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// basePath is the path before those of the contract.
const basePath = "/v1"

// readyTimeout bounds how long /readyz waits for the store.
const readyTimeout = 2 * time.Second

// router is the handler of an address: an httpapi handler below the base path, and health
// and the web page beside it. It replaces http.ServeMux, which cleans paths and redirects,
// and http.StripPrefix, which copies every request.
type router struct {
	*server
	base    string // "": the handler is at the root
	handler http.Handler
	page    http.Handler // nil: none
}

func (rt *router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// A chunked request may also have had a length, which a proxy in front may
	// have used. So nothing after it on the connection can be trusted (RFC
	// 9112, section 6.1).
	if rt.draining.Load() || len(r.TransferEncoding) > 0 {
		w.Header()["Connection"] = []string{"close"}
	}
	get := r.Method == http.MethodGet || r.Method == http.MethodHead
	path, below := strings.CutPrefix(r.URL.Path, rt.base)
	switch {
	case get && (r.URL.Path == "/healthz" || r.URL.Path == "/readyz"):
		rt.health(w, r)
	case get && r.URL.Path == "/" && rt.page != nil:
		rt.page.ServeHTTP(w, r)
	case below && (path == "" || path[0] == '/' || rt.base == ""):
		// The request is the server's own, so its URL can be changed in place. The handler
		// finds a slash that was sent as %2F in RawPath.
		r.URL.Path = path
		rt.handler.ServeHTTP(w, r)
		return
	default:
		httpapi.WriteError(w, r, petstore.Errorf(petstore.CodeNotFound, "path: there is nothing here; the base address ends in %s, as in %[1]s/pets", rt.base))
	}
	request.Discard(r) // as the handler does by itself
}

// health serves GET /healthz, which is always 200, and GET /readyz, which is an error if
// requests should be sent elsewhere.
func (s *server) health(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if r.URL.Path == "/readyz" {
		ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
		defer cancel()
		if err := s.ready(ctx); err != nil {
			httpapi.WriteError(w, r, err)
			return
		}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "ok\n")
}
