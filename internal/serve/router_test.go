package serve

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStripBase(t *testing.T) {
	tests := []struct {
		base, target string
		want         string // the escaped path that is left; "-": not under the base
	}{
		{"/v1", "/v1/pets", "/pets"},
		{"/v1", "/v1/pets/7", "/pets/7"},
		{"/v1", "/v1", ""},
		{"/v1", "/v1/", "/"},
		{"/v1", "/v1//pets", "//pets"},
		{"/v1", "/v1/v1/pets", "/v1/pets"},
		{"/v1", "/v1/pets/a%2Fb", "/pets/a%2Fb"},
		{"/v1", "/v1/pets/%31", "/pets/%31"},
		{"/v1", "/%76%31/pets", "/pets"},
		{"/v1", "/%761/pets/%2f", "/pets/%2f"},
		{"/v1", "/v1%2Fpets", "-"},
		{"/v1", "/v1%2fpets", "-"},
		{"/v1", "%2Fv1/pets", "-"},
		{"/v1", "/v1x/pets", "-"},
		{"/v1", "/v/pets", "-"},
		{"/v1", "/pets", "-"},
		{"/v1", "/", "-"},
		{"/v1", "//v1/pets", "-"},
		{"/v1", "/V1/pets", "-"},
		{"/a/b", "/a/b/c", "/c"},
		{"/a/b", "/a%2fb/c", "-"},
		{"/a/b", "/%61/b/%63%2f", "/%63%2f"},
		{"", "/pets", "/pets"},
		{"", "/a%2Fb", "/a%2Fb"},
		{"", "/", "/"},
		{"", "*", "-"},
	}
	for _, tt := range tests {
		u := &url.URL{Path: tt.target}
		if strings.Contains(tt.target, "%") {
			path, err := url.PathUnescape(tt.target)
			if err != nil {
				t.Fatal(err)
			}
			u = &url.URL{Path: path, RawPath: tt.target}
		}
		before := *u
		got := "-"
		if stripBase(u, tt.base) {
			got = u.EscapedPath()
		} else if *u != before {
			t.Errorf("stripBase(%q, %q) changed the URL to %v", tt.target, tt.base, u)
		}
		if got != tt.want {
			t.Errorf("stripBase(%q, %q) left %q; want %q", tt.target, tt.base, got, tt.want)
		}
	}
}

// Where http.StripPrefix finds the prefix, stripBase does too, with the same
// rest. It also finds a prefix that is escaped, and the root.
func FuzzStripBase(f *testing.F) {
	for _, s := range []string{"/v1/pets", "/v1%2Fpets", "/%761/pets", "/v1x", "/v1/a%2Fb", "/v1", "*", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || u.Path == "" || u.Path[0] != '/' {
			return
		}
		var want *url.URL
		http.StripPrefix("/v1", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { want = r.URL })).
			ServeHTTP(httptest.NewRecorder(), &http.Request{URL: u})
		got := *u
		ok := stripBase(&got, "/v1")
		switch {
		case want != nil && (want.Path == "" || want.Path[0] == '/') && (want.RawPath == "" || want.RawPath[0] == '/'):
			if !ok || got.Path != want.Path || got.RawPath != want.RawPath {
				t.Errorf("%q: left %q %q, %v; want %q %q", target, got.Path, got.RawPath, ok, want.Path, want.RawPath)
			}
		case ok && u.RawPath == "":
			t.Errorf("%q: taken for a path under the base", target)
		case ok:
			if raw, err := url.PathUnescape(got.RawPath); err != nil || raw != got.Path || "/v1"+raw != u.Path {
				t.Errorf("%q: left %q %q", target, got.Path, got.RawPath)
			}
		}
	})
}

// newRouter returns a router whose handler responds with the path that it sees.
func newRouter(base string) *router {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "handler "+r.URL.Path)
	})
	return &router{base: base, handler: handler, draining: new(atomic.Bool)}
}

func TestRouter(t *testing.T) {
	const nothing = `{"code":"not_found","message":"path: there is nothing here","status":404}`
	tests := []struct{ name, base, target, want string }{
		{"below the base", "/v1", "/v1/pets", "handler /pets"},
		{"below the base, escaped", "/v1", "/v1/mess%61ges", "handler /messages"},
		{"the base", "/v1", "/v1", "handler "},
		{"outside the base", "/v1", "/pets", nothing},
		{"health", "/v1", "/healthz", "ok\n"},
		{"health below the base", "/v1", "/v1/healthz", "handler /healthz"},
		{"health at the root", "", "/readyz", "ok\n"},
		{"root", "", "/pets", "handler /pets"},
	}
	for _, tt := range tests {
		w := httptest.NewRecorder()
		newRouter(tt.base).ServeHTTP(w, httptest.NewRequest("GET", tt.target, nil))
		if diff := cmp.Diff(tt.want, w.Body.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
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
		{"POST", "POST", "/healthz", nil, false, 405},
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
