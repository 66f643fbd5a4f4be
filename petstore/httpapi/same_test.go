package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// TestSameResponses: requests get the same responses, byte for byte, with and
// without encoded reads, and under every prefix. HEAD gets what GET does, without
// the body.
func TestSameResponses(t *testing.T) {
	store, err := storage.Open(filepath.Join(t.TempDir(), "store"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, p := range []petstore.NewPet{
		{Name: "\"\\\x00\u2028<&>é🐕", CategoryID: -1 << 63, Status: petstore.StatusSold},
		{Status: petstore.StatusPending},
		{Name: strings.Repeat("x", 200_000)},
	} {
		if _, err := store.CreatePet(t.Context(), p, petstore.IdempotencyKey{}); err != nil {
			t.Fatal(err)
		}
	}
	s := newServer(t, nil)
	plain := s.handler(store, testKeys, nil)
	under := http.StripPrefix("/api/v1", plain)
	embedding := s.handler(struct{ *storage.Store }{store}, testKeys, nil) // has no encoded reads
	for target := range strings.FieldsSeq(`
		/pets /pets?limit=1 /pets?status=sold&limit=3 /pets?status=available /pets?limit=0 /pets/1 /pets/%31 /pets/3 /pets/99 /pets/x
		/pets/ //pets /pets%2F1 /openapi.json`) {
		do := func(h http.Handler, method, target string) response {
			r := httptest.NewRequest(method, "http://h"+target, nil)
			r.Header.Set("X-Request-Id", "the-same")
			return record(t, h, r)
		}
		want := do(plain, "GET", target)
		same := func(what string, got response) {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%.3000s", target, what, diff)
			}
		}
		if want.Body == "" {
			t.Errorf("%s: no body", target)
		}
		same("without encoded reads", do(embedding, "GET", target))
		same("under a prefix", do(under, "GET", "/api/v1"+target))
		want.Body = ""
		same("HEAD", do(plain, "HEAD", target))
	}
}
