package page

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/animalstore/internal/members"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/petstoretest"
)

// statistics counts seven pets, or fails.
type statistics struct{ err error }

func (s statistics) Stats(context.Context) (petstore.Stats, error) {
	return petstore.Stats{Pets: 7}, s.err
}

// serve serves a request. refused is the error that the response is for.
func serve(method, path, authorization string, err error) (w *httptest.ResponseRecorder, refused error) {
	w = httptest.NewRecorder()
	r := httptest.NewRequest(method, path, nil)
	if authorization != "" {
		r.Header["Authorization"] = strings.Split(authorization, "\n")
	}
	refuse := func(w http.ResponseWriter, r *http.Request, err error) {
		httpapi.WriteError(w, r, err)
		refused = err
	}
	New(petstoretest.Keys{"key-1": "tester"}, statistics{err}, refuse).ServeHTTP(w, r)
	return w, refused
}

func TestPage(t *testing.T) {
	w, _ := serve("GET", "/", "", nil)
	header, body := w.Header(), w.Body.String()
	if w.Code != http.StatusOK || header.Get("Content-Type") != "text/html; charset=utf-8" || header.Get("Content-Length") != strconv.Itoa(len(body)) {
		t.Errorf("%d %v", w.Code, header)
	}
	if len(body) >= 60_000 {
		t.Errorf("the page has %d bytes; it must have less than 60,000", len(body))
	}
	if !strings.Contains(body, `data-base="./v1/"`) || strings.Contains(body, "{{") {
		t.Error("a placeholder was not replaced")
	}
	policy := header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") || strings.Count(policy, "'sha256-") != 2 {
		t.Errorf("Content-Security-Policy: %s", policy)
	}
	// The hashes allow every style and script of the page: none is in an attribute.
	for _, text := range []string{` style="`, ` onclick="`, ` src="`} {
		if strings.Contains(body, text) {
			t.Errorf("the page has%s", text)
		}
	}
}

// TestMembers: the page shows every member of a pet, in the list and as JSON, and
// the form has a field for it.
func TestMembers(t *testing.T) {
	_, script, _ := strings.Cut(read("pets.js"), "function petRow(")
	row, script, _ := strings.Cut(script, "function showJSON(")
	asJSON, _, _ := strings.Cut(script, "\nfunction ")
	for name := range members.Without(petstore.Pet{}) {
		if !strings.Contains(row, "pet."+name) || !strings.Contains(asJSON, "pet."+name) {
			t.Errorf("pets.js does not show the member %q in the list and as JSON", name)
		}
	}
	for name := range members.Without(petstore.NewPet{}) {
		if !strings.Contains(read("page.html"), `id="add-`+name+`"`) {
			t.Errorf("page.html has no field for the member %q", name)
		}
	}
}

func TestRequests(t *testing.T) {
	failed := errors.New("secret detail")
	tests := []struct {
		method, path, authorization string
		err                         error
		status                      int
		want                        string // in the body
	}{
		{"HEAD", "/", "", nil, 200, ""},
		{"POST", "/", "", nil, 405, `"code":"method_not_allowed"`},
		{"DELETE", "/about", "Bearer key-1", nil, 405, `"code":"method_not_allowed"`},
		{"GET", "/about", "Bearer key-1", nil, 200, `"pets":7`},
		{"GET", "/about", "bearer  key-1", nil, 200, `"pets":7`},
		{"GET", "/about?page=3", "Bearer key-1", nil, 200, `"cursor":"` + string(petstore.CursorAfter(40)) + `"`},
		{"GET", "/about?page=-3&page=4", "Bearer key-1", nil, 200, `"cursor":""`},
		{"GET", "/about", "Bearer key-1\nBearer key-1", nil, 401, "in exactly one field"},
		{"GET", "/about", "Bearer key\u00a01", nil, 401, "is not a valid API key"},
		{"GET", "/about", "", nil, 401, `"code":"unauthorized"`},
		{"GET", "/about", "key-1", nil, 401, `"code":"unauthorized"`},
		{"GET", "/about", "Bearer ", nil, 401, `"code":"unauthorized"`},
		{"GET", "/about", "Bearer key-2", nil, 401, `"code":"unauthorized"`},
		{"GET", "/about", "Bearer key-2", failed, 401, `"code":"unauthorized"`},
		{"GET", "/about", "Bearer key-1", failed, 500, `"code":"internal"`},
	}
	for _, tt := range tests {
		w, refused := serve(tt.method, tt.path, tt.authorization, tt.err)
		body := w.Body.String()
		if (refused != nil) != (w.Code >= 400) {
			t.Errorf("%s %s: %d is for the error %v", tt.method, tt.path, w.Code, refused)
		}
		if w.Code != tt.status || !strings.Contains(body, tt.want) || strings.Contains(body, "secret") {
			t.Errorf("%s %s, Authorization %q: %d %s", tt.method, tt.path, tt.authorization, w.Code, body)
		}
		if w.Code == http.StatusUnauthorized && strings.Contains(body, "7") {
			t.Errorf("%s %s: the response counts pets: %s", tt.method, tt.path, body)
		}
		if got := w.Header().Get("Allow") != ""; got != (w.Code == http.StatusMethodNotAllowed) {
			t.Errorf("%s %s: Allow: %v", tt.method, tt.path, w.Header()["Allow"])
		}
		if w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s: it may be stored", tt.method, tt.path)
		}
	}
}

func TestUptime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(petstoretest.Keys{"key-1": "tester"}, statistics{}, httpapi.WriteError)
		time.Sleep(90 * time.Second)
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/about", nil)
		r.Header.Set("Authorization", "Bearer key-1")
		if h.ServeHTTP(w, r); !strings.Contains(w.Body.String(), `"uptimeSeconds":90,`) {
			t.Errorf("after 90 seconds: %s", w.Body)
		}
	})
}
