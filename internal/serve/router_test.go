package serve

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/storage/memory"
)

func TestRouter(t *testing.T) {
	// named returns a handler that responds with its name and the path that it sees, and
	// with RawPath if that has an escaped slash.
	named := func(name string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, name+r.URL.Path)
			if strings.Contains(strings.ToUpper(r.URL.RawPath), "%2F") {
				_, _ = io.WriteString(w, " from "+r.URL.RawPath)
			}
		})
	}
	s := &server{store: &Opened{Store: store{memory.New(nil)}}, keys: apikey.Static{}}
	for target, want := range map[string]string{
		"/v1/pets":           "handler /pets",
		"/v1//pets/7":        "handler //pets/7",
		"/v1/healthz":        "handler /healthz",
		"/%76%31/mess%61ges": "handler /messages",
		"/v1":                "handler ",
		"/v1x/pets":          "the base address ends in /v1, as in /v1/pets",
		"/pets":              "the base address ends in /v1, as in /v1/pets",
		"//v1/pets":          "the base address ends in /v1, as in /v1/pets",
		"/v1%2Fpets":         "handler /pets from /v1%2Fpets",
		"/v1/pets%2f7":       "handler /pets/7 from /v1/pets%2f7",
		"/healthz":           "ok\n",
		"/readyz":            "ok\n",
		"/":                  "page /",
		"http://x//":         "the base address ends in /v1, as in /v1/pets",
	} {
		rt := &router{server: s, base: basePath, handler: named("handler "), page: named("page ")}
		w, body := httptest.NewRecorder(), strings.NewReader("body")
		rt.ServeHTTP(w, httptest.NewRequest("GET", target, body))
		if got := w.Body.String(); got != want && (w.Code != http.StatusNotFound || !strings.Contains(got, want)) {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
		if body.Len() > 0 && !strings.HasPrefix(want, "handler ") { // otherwise the response may be lost
			t.Errorf("%s: the body is unread", target)
		}
	}
}

// A chunked request ends its connection: a proxy in front may have used another length.
func TestChunked(t *testing.T) {
	rt := &router{server: new(server), handler: http.NotFoundHandler()}
	for _, codings := range [][]string{nil, {"chunked"}} {
		w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/pets", nil)
		r.TransferEncoding = codings
		rt.ServeHTTP(w, r)
		if closed := w.Header().Get("Connection") == "close"; closed != (codings != nil) {
			t.Errorf("%q: Connection: %q", codings, w.Header().Get("Connection"))
		}
	}
}
