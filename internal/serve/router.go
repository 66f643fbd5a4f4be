package serve

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// router is the handler of an address: the contract's handler under the base
// path, and health outside it. It replaces http.ServeMux, which cleans paths and
// redirects, and http.StripPrefix, which copies every request.
type router struct {
	base     string
	handler  http.Handler
	ready    func(context.Context) error
	draining *atomic.Bool

	// observe is called with the requests that the router refuses. Requests for
	// health are not observed. nil: it is not called.
	observe func(context.Context, httpapi.Observation)
}

var (
	errNoPath       = &petstore.Error{Code: petstore.CodeNotFound, Message: "path: there is nothing here"}
	errHealthMethod = &petstore.Error{Code: httpapi.CodeMethodNotAllowed, Message: "method: must be GET or HEAD"}
)

func (rt *router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// A chunked request may also have had a length, which a proxy in front may
	// have used. So nothing after it on the connection can be trusted (RFC
	// 9112, section 6.1).
	if rt.draining.Load() || len(r.TransferEncoding) > 0 {
		w.Header()["Connection"] = []string{"close"}
	}
	switch {
	case r.URL.Path == "/healthz":
		rt.health(w, r, nil)
	case r.URL.Path == "/readyz":
		rt.health(w, r, rt.readiness(r.Context()))
	case !stripBase(r.URL, rt.base):
		rt.refuse(w, r, http.StatusNotFound, errNoPath)
	default:
		rt.handler.ServeHTTP(w, r)
	}
}

// stripBase removes base from the start of u's path, in both its forms. It
// reports whether the rest is empty or starts with a slash; otherwise u stays as
// it was. It changes the URL in place: the request is the server's own, and
// nothing needs the path again.
func stripBase(u *url.URL, base string) bool {
	rest, ok := strings.CutPrefix(u.Path, base)
	if !ok || rest != "" && rest[0] != '/' {
		return false
	}
	if u.RawPath != "" {
		// An escaped character of the base equals the character (RFC 3986,
		// section 2.4). An escaped slash does not: it is part of a segment.
		n := 1 + strings.Count(base, "/")
		segments := strings.SplitN(u.RawPath, "/", n+1)
		start := strings.Join(segments[:min(n, len(segments))], "/")
		if plain, err := url.PathUnescape(start); err != nil || plain != base || len(segments) < n {
			return false
		}
		u.RawPath = u.RawPath[len(start):]
	}
	u.Path = rest
	return true
}

// refuse responds to a request that is not for the handler.
func (rt *router) refuse(w http.ResponseWriter, r *http.Request, status int, err *petstore.Error) {
	began := time.Now()
	httpapi.WriteError(w, r, err)
	if rt.observe != nil {
		size := 0
		if r.Method != http.MethodHead {
			size, _ = strconv.Atoi(w.Header().Get("Content-Length"))
		}
		rt.observe(r.Context(), httpapi.Observation{
			Method:     r.Method,
			Path:       r.URL.Path,
			RemoteAddr: r.RemoteAddr,
			UserAgent:  r.UserAgent(),
			Status:     status,
			Code:       err.Code,
			Bytes:      size,
			Duration:   time.Since(began),
			RequestID:  w.Header().Get("X-Request-Id"),
		})
	}
}

// readyTimeout bounds how long /readyz waits for the store.
const readyTimeout = 2 * time.Second

var errDraining = petstore.Errorf(petstore.CodeUnavailable, "the server is stopping")

// readiness returns why requests should be sent elsewhere.
func (rt *router) readiness(ctx context.Context) error {
	if rt.draining.Load() {
		return errDraining
	}
	if rt.ready == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if err := rt.ready(ctx); err != nil {
		return &petstore.Error{Code: petstore.CodeUnavailable, Message: "the store cannot be used now", Err: err}
	}
	return nil
}

// health responds to /healthz or /readyz: 200 unless there is an error.
func (rt *router) health(w http.ResponseWriter, r *http.Request, err error) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		rt.refuse(w, r, http.StatusMethodNotAllowed, errHealthMethod)
		return
	}
	if err != nil {
		httpapi.WriteError(w, r, err)
		return
	}
	const ok = "ok\n"
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(ok)))
	if r.Method != http.MethodHead {
		_, _ = io.WriteString(w, ok)
	}
	httpapi.DiscardBody(w, r, httpapi.DefaultMaxBodyBytes)
}
