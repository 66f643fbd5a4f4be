package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"example.com/animalstore/internal/members"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/httpapi"
)

// statistics counts seven pets, or fails.
type statistics struct{ err error }

func (s statistics) Stats(context.Context) (petstore.Stats, error) {
	return petstore.Stats{Pets: 7}, s.err
}

// serve serves a request. refused is the error that the response is for.
func serve(path, authorization string, err error) (w *httptest.ResponseRecorder, refused error) {
	w = httptest.NewRecorder()
	r := httptest.NewRequest("GET", path, nil)
	r.Header.Set("Authorization", authorization)
	refuse := func(w http.ResponseWriter, r *http.Request, err error) {
		httpapi.WriteError(w, r, err)
		refused = err
	}
	New(apikey.Static{"key-1": "tester"}, statistics{err}, refuse).ServeHTTP(w, r)
	return w, refused
}

func TestPage(t *testing.T) {
	w, _ := serve("/", "", nil)
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

// TestMembers: the page shows every member of a pet, in a column of the list and as
// JSON, and the form has a field for it.
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
		if field := fmt.Sprintf(`id="add-%s" name="%[1]s"`, name); !strings.Contains(read("page.html"), field) {
			t.Errorf("page.html: the form has no field with %s", field)
		}
	}
	columns, want := strings.Count(read("page.html"), `role="columnheader"`), len(members.Without(petstore.Pet{}))+1
	if columns != want {
		t.Errorf("the list in page.html has %d column heads, want %d: one for each member of a pet, and one for its JSON", columns, want)
	}
}

func TestRequests(t *testing.T) {
	failed := errors.New("secret detail")
	tests := []struct {
		path, authorization string
		err                 error
		status              int
		want                string // in the body
	}{
		{"/about", "Bearer key-1", nil, 200, `"pets":7`},
		{"/about?page=3", "Bearer key-1", nil, 200, `"cursor":"` + string(petstore.CursorAfter(40)) + `"`},
		{"/about?page=-3&page=4", "Bearer key-1", nil, 200, `"cursor":""`},
		{"/about", "", nil, 401, `"code":"unauthorized"`},
		{"/about", "Bearer key-2", nil, 401, `"code":"unauthorized"`},
		{"/about", "Bearer key-2", failed, 401, `"code":"unauthorized"`},
		{"/about", "Bearer key-1", failed, 500, `"code":"internal"`},
	}
	for _, tt := range tests {
		w, refused := serve(tt.path, tt.authorization, tt.err)
		body := w.Body.String()
		if (refused != nil) != (w.Code >= 400) {
			t.Errorf("%s: %d is for the error %v", tt.path, w.Code, refused)
		}
		if w.Code != tt.status || !strings.Contains(body, tt.want) || strings.Contains(body, "secret") {
			t.Errorf("%s, Authorization %q: %d %s", tt.path, tt.authorization, w.Code, body)
		}
		if w.Code == http.StatusUnauthorized && strings.Contains(body, "7") {
			t.Errorf("%s: the response counts pets: %s", tt.path, body)
		}
		if w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: it may be stored", tt.path)
		}
	}
}
