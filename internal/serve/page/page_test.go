package page

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore/storage/storagetest"
)

func TestPage(t *testing.T) {
	w := httptest.NewRecorder()
	New(true).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
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
	pet, newPet := memberNames(t, storagetest.SamplePet()), memberNames(t, storagetest.SamplePet().NewPet)
	for name := range pet {
		if !strings.Contains(row, "pet."+name) {
			t.Errorf("pets.js does not show the member %q in the list", name)
		}
	}
	for name := range newPet {
		if field := fmt.Sprintf(`id="add-%s" name="%[1]s"`, name); !strings.Contains(read("page.html"), field) {
			t.Errorf("page.html: the form has no field with %s", field)
		}
	}
	if columns := strings.Count(read("page.html"), `role="columnheader"`); columns != len(pet) {
		t.Errorf("the list in page.html has %d column heads, want %d: one for each member of a pet", columns, len(pet))
	}
}

// memberNames returns the JSON of v, an object, by its members' names.
func memberNames(t *testing.T, v any) (members map[string]any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &members)
	}
	if err != nil {
		t.Fatal(err)
	}
	return members
}
