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
func newRouter() *router {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "handler "+r.URL.Path)
	})
	ready := func(context.Context) error { return nil }
	return &router{handler: handler, ready: ready, page: handler, draining: new(atomic.Bool)}
}

func TestRouter(t *testing.T) {
	for target, want := range map[string]string{
		"/v1/pets":           "handler /pets",
		"/v1/":               "handler /",
		"/v1//pets/7":        "handler //pets/7",
		"/v1/v1/pets":        "handler /v1/pets",
		"/v1/healthz":        "handler /healthz",
		"/%76%31/mess%61ges": "handler /messages",
		"/v1":                "handler ",
		"/v1x/pets":          "handler ",
		"/V1/pets":           "handler ",
		"/pets":              "handler ",
		"//v1/pets":          "handler ",
		"/v1%2Fpets":         "handler ",
		"/v1/pets%2f7":       "handler ",
		"/healthz":           "ok\n",
		"/readyz":            "ok\n",
		"/":                  "page /",
		"/about":             "page /about",
		"/about/":            "handler ",
		"http://x//":         "handler ",
		"/index.html":        "handler ",
	} {
		rt := newRouter()
		rt.page = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "page "+r.URL.Path)
		})
		w := httptest.NewRecorder()
		rt.ServeHTTP(w, httptest.NewRequest("GET", target, nil))
		if got := w.Body.String(); got != want {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
}

func TestHealth(t *testing.T) {
	rt := newRouter()
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
	srv := httptest.NewServer(newRouter())
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
