package systemtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/internal/testserver"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// mount is a way to put the handler under a prefix.
type mount struct {
	name   string
	base   string
	cleans bool // the router cleans paths before the handler sees them
	wrap   func(http.Handler) http.Handler
}

var mounts = []mount{
	{"root", "", false, func(h http.Handler) http.Handler { return h }},
	{"StripPrefix", "/v1", false, func(h http.Handler) http.Handler { return http.StripPrefix("/v1", h) }},
	{"nested StripPrefix", "/api/store/v1", true, func(h http.Handler) http.Handler {
		inner := http.NewServeMux()
		inner.Handle("/v1/", http.StripPrefix("/v1", h))
		outer := http.NewServeMux()
		outer.Handle("/api/store/", http.StripPrefix("/api/store", inner))
		return outer
	}},
	{"chi", "/api/v1", false, func(h http.Handler) http.Handler {
		r := chi.NewRouter()
		r.Route("/api", func(r chi.Router) { r.Mount("/v1", http.StripPrefix("/api/v1", h)) })
		return r
	}},
	{"gin", "/v1", false, func(h http.Handler) http.Handler {
		gin.SetMode(gin.ReleaseMode)
		r := gin.New()
		r.Any("/v1/*path", gin.WrapH(http.StripPrefix("/v1", h)))
		return r
	}},
}

// serve starts a mount before a store of its own and returns its address.
func (m mount) serve(t *testing.T) string {
	t.Helper()
	store := memory.New(&memory.Options{Now: func() time.Time { return time.Unix(1795132800, 0) }})
	srv := httptest.NewServer(m.wrap(httpapi.New(store, testserver.Authenticator, &httpapi.Options{Messages: store})))
	t.Cleanup(srv.Close)
	return srv.Listener.Addr().String()
}

// step is a request, its target relative to the base.
type step struct {
	method, target string
	body           string // with its Content-Type and length, unless empty
	fields         string
	unclean        bool // a path that some routers clean first
}

const auth = "Authorization: Bearer " + testserver.Key + "\r\n"

var steps = []step{
	{method: "POST", target: "/pets", body: `{"name":"rex","categoryId":1,"status":"sold"}`, fields: auth},
	{method: "POST", target: "/pets", body: `{"name":"tom","categoryId":2}`, fields: auth + "Idempotency-Key: k\r\n"},
	{method: "POST", target: "/pets", body: `{"name":"tom","categoryId":2}`, fields: auth + "Idempotency-Key: k\r\n"},
	{method: "POST", target: "/pets", body: `{"name":"tom","categoryId":3}`, fields: auth + "Idempotency-Key: k\r\n"},
	{method: "POST", target: "/pets", body: `{"name":"kim","categoryId":2,"status":"sold"}`, fields: auth},
	{method: "POST", target: "/pets", body: `{"name":"tom"`, fields: auth},
	{method: "POST", target: "/pets", body: `{"name":"tom"}`, fields: auth},
	{method: "POST", target: "/pets", fields: auth},
	{method: "POST", target: "/pets", body: `{"name":"tom","categoryId":2}`},
	{method: "POST", target: "/pets", body: strings.Repeat(" ", 2<<20), fields: auth},
	{method: "GET", target: "/pets", fields: auth},
	{method: "HEAD", target: "/pets", fields: auth},
	{method: "GET", target: "/pets?limit=1", fields: auth},
	{method: "GET", target: "/pets?limit=1&status=sold", fields: auth},
	{method: "GET", target: "/pets?limit=0", fields: auth},
	{method: "GET", target: "/pets?status=gone", fields: auth},
	{method: "GET", target: "/pets?cursor=x", fields: auth},
	{method: "GET", target: "/pets?%zz", fields: auth},
	{method: "GET", target: "/pets"},
	{method: "GET", target: "/pets", fields: "Authorization: Bearer nope\r\n"},
	{method: "PUT", target: "/pets", fields: auth},
	{method: "OPTIONS", target: "/pets", fields: auth},
	{method: "GET", target: "/pets/1", fields: auth},
	{method: "HEAD", target: "/pets/1", fields: auth},
	{method: "GET", target: "/pets/%31", fields: auth},
	{method: "GET", target: "/%70ets/1", fields: auth},
	{method: "GET", target: "/pets/9", fields: auth},
	{method: "HEAD", target: "/pets/9", fields: auth},
	{method: "GET", target: "/pets/abc", fields: auth},
	{method: "GET", target: "/pets/01", fields: auth},
	{method: "GET", target: "/pets/1"},
	{method: "DELETE", target: "/pets/1", fields: auth},
	{method: "GET", target: "/pets%2F1", fields: auth},
	{method: "GET", target: "/pets/1%2F", fields: auth},
	{method: "GET", target: "/pets/", fields: auth},
	{method: "GET", target: "/pets/1/", fields: auth},
	{method: "GET", target: "/cats", fields: auth},
	{method: "GET", target: "/store/orders", fields: auth},
	{method: "GET", target: "/", fields: auth},
	{method: "POST", target: "/messages", body: `{"message":"hello"}`, fields: auth},
	{method: "POST", target: "/messages", body: `{"message":5}`, fields: auth},
	{method: "POST", target: "/messages", body: `{"message":"hello"}`},
	{method: "GET", target: "/messages", fields: auth},
	{method: "GET", target: "//pets", fields: auth, unclean: true},
	{method: "GET", target: "//pets/1", fields: auth, unclean: true},
	{method: "GET", target: "/pets//1", fields: auth, unclean: true},
	{method: "GET", target: "/pets/./1", fields: auth, unclean: true},
	{method: "GET", target: "/x/../pets", fields: auth, unclean: true},
	{method: "GET", target: "/pets/..", fields: auth, unclean: true},
	{method: "GET", target: "/pets/%2E", fields: auth, unclean: true},
}

// TestMounts: the responses are the same under every mount.
func TestMounts(t *testing.T) {
	var want []response
	for i, m := range mounts {
		t.Run(m.name, func(t *testing.T) {
			addr := m.serve(t)
			for j, s := range steps {
				if s.unclean && m.cleans {
					continue
				}
				got := perform(t, addr, m.base, s)
				if i == 0 {
					want = append(want, got)
					continue
				}
				if diff := cmp.Diff(want[j], got); diff != "" {
					t.Errorf("%s %s (-at the root +here):\n%s", s.method, s.target, diff)
				}
			}
		})
	}
}

// TestLinks: Location and Link lead, resolved as a client resolves them, to
// where they should under every prefix.
func TestLinks(t *testing.T) {
	for _, m := range mounts {
		t.Run(m.name, func(t *testing.T) {
			addr := m.serve(t)
			for i := range 3 {
				body := fmt.Sprintf(`{"name":"pet %d","categoryId":1}`, i)
				a := perform(t, addr, m.base, step{method: "POST", target: "/pets", body: body, fields: auth})
				location := m.resolve(t, "/pets", a.Header.Get("Location"))
				if b := perform(t, addr, "", step{method: "GET", target: location, fields: auth}); b.Status != 200 || b.Body != a.Body {
					t.Errorf("Location led to %s: %d %s", location, b.Status, b.Body)
				}
			}
			a := perform(t, addr, m.base, step{method: "GET", target: "/pets?limit=2&x=y", fields: auth})
			next := m.resolve(t, "/pets?limit=2&x=y", target(t, a, "next"))
			b := perform(t, addr, "", step{method: "GET", target: next, fields: auth})
			if b.Status != 200 || b.Body != `[{"id":3,"name":"pet 2","categoryId":1}]` || b.Header.Get("Link") != "" {
				t.Errorf("next led to %s: %d %s", next, b.Status, b.Body)
			}
			a = perform(t, addr, m.base, step{method: "GET", target: "/pets/1", fields: auth})
			if got, want := m.resolve(t, "/pets/1", target(t, a, "successor-version")), m.base+"/pets"; got != want {
				t.Errorf("successor is %s, want %s", got, want)
			}
		})
	}
}

// resolve resolves reference against the request's URL (RFC 3986, section 5).
func (m mount) resolve(t *testing.T, request, reference string) string {
	t.Helper()
	base, err := url.Parse("http://h" + m.base + request)
	if err != nil {
		t.Fatal(err)
	}
	u, err := base.Parse(reference)
	if err != nil {
		t.Fatal(err)
	}
	return u.RequestURI()
}

// target returns the target of a response's only link, which must have the
// relation rel.
func target(t *testing.T, a response, rel string) string {
	t.Helper()
	link := a.Header.Get("Link")
	s, ok := strings.CutSuffix(strings.TrimPrefix(link, "<"), `>; rel="`+rel+`"`)
	if !ok {
		t.Fatalf("Link: %q, want rel=%q", link, rel)
	}
	return s
}
