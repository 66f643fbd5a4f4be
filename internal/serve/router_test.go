package serve

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// newRouter returns a router whose handler responds with the path that it sees.
func newRouter(base string) *router {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "handler "+r.URL.Path)
	})
	ready := func(context.Context) error { return nil }
	return &router{base: base, handler: handler, ready: ready, draining: new(atomic.Bool), inFlight: new(atomic.Int64)}
}

func TestRouter(t *testing.T) {
	tests := []struct{ base, target, want string }{
		{"/v1", "/v1/pets", "handler /pets"},
		{"/v1", "/v1/", "handler /"},
		{"/v1", "/v1//pets/7", "handler //pets/7"},
		{"/v1", "/v1/v1/pets", "handler /v1/pets"},
		{"/v1", "/v1/healthz", "handler /healthz"},
		{"/v1", "/%76%31/mess%61ges", "handler /messages"},
		{"/v1", "/v1", "handler "},
		{"/v1", "/v1x/pets", "handler "},
		{"/v1", "/V1/pets", "handler "},
		{"/v1", "/pets", "handler "},
		{"/v1", "//v1/pets", "handler "},
		{"/v1", "/v1%2Fpets", "handler "},
		{"/v1", "/v1/pets%2f7", "handler "},
		{"/a/b", "/a/b/c", "handler /c"},
		{"/a/b", "/a%2fb/c", "handler "},
		{"", "/pets", "handler /pets"},
		{"", "/pets%2F7", "handler "},
		{"/v1", "/healthz", "ok\n"},
		{"", "/readyz", "ok\n"},
	}
	for _, tt := range tests {
		w := httptest.NewRecorder()
		newRouter(tt.base).ServeHTTP(w, httptest.NewRequest("GET", tt.target, nil))
		if got := w.Body.String(); got != tt.want {
			t.Errorf("%s, base path %q: %q, want %q", tt.target, tt.base, got, tt.want)
		}
	}
}

// The page is outside the base path, and only where it is served.
func TestRouterPage(t *testing.T) {
	for _, base := range []string{"/v1", ""} {
		rt := newRouter(base)
		rt.page = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "page "+r.URL.Path)
		})
		for target, isPage := range map[string]bool{"/": true, "/about": true, "/v1": false, "/v1/": false, "/about/": false, "//": false, "/index.html": false} {
			for _, method := range []string{"GET", "POST"} {
				w := httptest.NewRecorder()
				rt.ServeHTTP(w, httptest.NewRequest(method, "http://x"+target, nil))
				if got := strings.HasPrefix(w.Body.String(), "page "); got != isPage {
					t.Errorf("%s %s, base path %q: %q", method, target, base, w.Body)
				}
			}
		}
	}
}

func TestHealth(t *testing.T) {
	rt := newRouter("/v1")
	var storeErr error
	rt.ready = func(context.Context) error { return storeErr }
	tests := []struct {
		name, method, path string
		err                error
		draining           bool
		status             int
	}{
		{"well", "GET", "/readyz", nil, false, 200},
		{"HEAD", "HEAD", "/readyz", nil, false, 200},
		{"store failed", "GET", "/readyz", errors.New("secret detail"), false, 503},
		{"store failed, alive", "GET", "/healthz", errors.New("secret detail"), false, 200},
		{"draining", "GET", "/readyz", nil, true, 503},
		{"draining, alive", "GET", "/healthz", nil, true, 200},
	}
	for _, tt := range tests {
		storeErr = tt.err
		rt.draining.Store(tt.draining)
		w := httptest.NewRecorder()
		rt.ServeHTTP(w, httptest.NewRequest(tt.method, tt.path, nil))
		if w.Code != tt.status || strings.Contains(w.Body.String(), "secret") || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v %s", tt.name, w.Code, w.Header(), w.Body)
		}
		if got := w.Header().Get("Connection") == "close"; got != tt.draining {
			t.Errorf("%s: Connection: close is %v", tt.name, got)
		}
	}
}

func TestChunkedRequestsCloseTheConnection(t *testing.T) {
	srv := httptest.NewServer(newRouter("/v1"))
	defer srv.Close()
	const chunked = "POST /v1/pets HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
	const sized = "POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"
	for request, want := range map[string]bool{chunked: true, sized: false} {
		conn, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, request)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || resp.StatusCode != 200 || resp.Close != want {
			t.Errorf("%q: %v, %v; want the connection closed: %v", request, resp, err, want)
		}
		conn.Close()
	}
}
