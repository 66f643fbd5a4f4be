package page

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"example.com/animalstore/internal/members"
	"example.com/animalstore/petstore"
)

func TestPage(t *testing.T) {
	w := httptest.NewRecorder()
	New().ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	header, body := w.Header(), w.Body.String()
	if w.Code != http.StatusOK || header.Get("Content-Type") != "text/html; charset=utf-8" || header.Get("Content-Length") != strconv.Itoa(len(body)) {
		t.Errorf("%d %v", w.Code, header)
	}
	if len(body) >= 60_000 {
		t.Errorf("the page has %d bytes; it must have less than 60,000", len(body))
	}
	policy := header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") || strings.Count(policy, "'sha256-") != 2 {
		t.Errorf("Content-Security-Policy: %s", policy)
	}
}

// TestMembers: the page shows every member of a pet in a column of the list, and the form
// has a field for it.
func TestMembers(t *testing.T) {
	_, script, _ := strings.Cut(read("pets.js"), "function petRow(")
	row, _, _ := strings.Cut(script, "\nfunction ")
	for name := range members.Without(petstore.Pet{}) {
		if !strings.Contains(row, "pet."+name) {
			t.Errorf("pets.js does not show the member %q in the list", name)
		}
	}
	for name := range members.Without(petstore.NewPet{}) {
		if field := fmt.Sprintf(`id="add-%s" name="%[1]s"`, name); !strings.Contains(read("page.html"), field) {
			t.Errorf("page.html: the form has no field with %s", field)
		}
	}
	columns, want := strings.Count(read("page.html"), `role="columnheader"`), len(members.Without(petstore.Pet{}))
	if columns != want {
		t.Errorf("the list in page.html has %d column heads, want %d: one for each member of a pet", columns, want)
	}
}
