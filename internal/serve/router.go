package serve

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"example.com/animalstore/internal/request"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// basePath is the path before those of the contract.
const basePath = "/v1"

// router is the handler of an address: the contract's handler under the base
// path, and health and the web page outside it. It replaces http.ServeMux, which
// cleans paths and redirects, and http.StripPrefix, which copies every request.
type router struct {
	handler  http.Handler
	page     http.Handler
	ready    func(context.Context) error
	draining *atomic.Bool
}

func (rt *router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
	case get && r.URL.Path == "/":
		rt.page.ServeHTTP(w, r)
	default:
		path, ok := strings.CutPrefix(r.URL.Path, basePath)
		if !ok || path != "" && path[0] != '/' {
			path = "" // for which the handler responds 404
		}
		// The request is the server's own, so its URL can be changed in place. The handler
		// finds a slash that was sent as %2F in RawPath.
		r.URL.Path = path
		rt.handler.ServeHTTP(w, r)
		return
	}
	request.Discard(r) // as the handler does by itself
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
