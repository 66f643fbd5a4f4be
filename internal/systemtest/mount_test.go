package systemtest

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/conformancetest"
	"example.com/animalstore/internal/testserver"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// mounts are ways to put the handler under a prefix.
var mounts = []struct {
	name, base string
	wrap       func(http.Handler) http.Handler
}{
	{"nested StripPrefix", "/api/store/v1", func(h http.Handler) http.Handler {
		inner := http.NewServeMux()
		inner.Handle("/v1/", http.StripPrefix("/v1", h))
		outer := http.NewServeMux()
		outer.Handle("/api/store/", http.StripPrefix("/api/store", inner))
		return outer
	}},
	{"chi", "/api/v1", func(h http.Handler) http.Handler {
		r := chi.NewRouter()
		r.Route("/api", func(r chi.Router) { r.Mount("/v1", http.StripPrefix("/api/v1", h)) })
		return r
	}},
	{"gin", "/v1", func(h http.Handler) http.Handler {
		gin.SetMode(gin.ReleaseMode)
		r := gin.New()
		r.Any("/v1/*path", gin.WrapH(http.StripPrefix("/v1", h)))
		return r
	}},
}

// TestMounts: under every mount the conformance suite passes, and the links in
// responses, resolved as a client resolves them, lead to the right place.
func TestMounts(t *testing.T) {
	for _, m := range mounts {
		t.Run(m.name, func(t *testing.T) {
			store := memory.New(nil)
			h := m.wrap(httpapi.New(store, testserver.Authenticator, &httpapi.Options{Messages: store}))
			target := conformance.Target{URL: m.base, MessagesURL: m.base, Key: testserver.Key}
			conformancetest.RunHandler(t, func(*testing.T) http.Handler { return h }, target, &conformance.Options{
				Level: conformance.Recommended, Timeout: 5 * time.Minute, // the machine may be busy
			})

			first, location := follow(t, h, "POST", m.base+"/pets", "Location")
			if second, _ := follow(t, h, "GET", location, ""); second != first {
				t.Errorf("Location leads to %s with %s, want %s", location, second, first)
			}
			follow(t, h, "POST", m.base+"/pets", "")
			_, next := follow(t, h, "GET", m.base+"/pets?limit=1&x=y", "Link")
			if page, _ := follow(t, h, "GET", next, ""); next == "" || page == "[]" {
				t.Errorf("Link leads to %s with %s", next, page)
			}
			if _, successor := follow(t, h, "GET", location, "Link"); successor != m.base+"/pets" {
				t.Errorf("the successor of %s is %s", location, successor)
			}
		})
	}
}

// follow sends a request, and returns the body of the response and where the
// reference in one of its header fields leads.
func follow(t *testing.T, h http.Handler, method, target, field string) (body, leads string) {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(`{"name":"rex","categoryId":1}`))
	r.Header = http.Header{"Authorization": {"Bearer " + testserver.Key}, "Content-Type": {"application/json"}}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	if rec.Code >= 300 {
		t.Errorf("%s %s: %d %s", method, target, rec.Code, rec.Body)
	}
	reference := rec.Header().Get(field)
	if field == "Link" {
		reference, _, _ = strings.Cut(strings.TrimPrefix(reference, "<"), ">")
	}
	u, err := url.Parse(reference)
	if err != nil {
		t.Fatal(err)
	}
	base, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	return rec.Body.String(), base.ResolveReference(u).RequestURI()
}
