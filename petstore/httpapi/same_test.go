package httpapi_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// TestSameResponses: a list or a pet is the same, byte for byte, whether the store
// has a reader of JSON or not. HEAD gets what GET does, without the body.
func TestSameResponses(t *testing.T) {
	store, err := storage.Open(filepath.Join(t.TempDir(), "store"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, p := range []petstore.NewPet{
		{Name: "\"\\\x00\u2028<&>é🐕", CategoryID: -1 << 63, Status: petstore.StatusSold},
		{Status: petstore.StatusPending},
		{Name: strings.Repeat("\x01", petstore.MaxTextBytes)},
	} {
		if _, err := store.CreatePet(t.Context(), p, petstore.IdempotencyKey{}); err != nil {
			t.Fatal(err)
		}
	}
	s := newServer(t, nil)
	direct := s.handler(store, testKeys, nil)
	plain := s.handler(struct{ *storage.Store }{store}, testKeys, nil) // which the handler does not read as JSON
	for target := range strings.FieldsSeq("/pets /pets?status=sold&limit=1 /pets?status=available /pets?limit=0 /pets/1 /pets/3 /pets/99 /openapi.json") {
		want := send(t, plain, get(target, hasID))
		if diff := cmp.Diff(want, send(t, direct, get(target, hasID))); diff != "" || want.Body == "" {
			t.Errorf("%s, from the JSON of the store (-want +got):\n%.3000s", target, diff)
		}
		want.Body = ""
		if diff := cmp.Diff(want, send(t, direct, request("HEAD "+target, authorized, hasID))); diff != "" {
			t.Errorf("HEAD %s (-want +got):\n%.3000s", target, diff)
		}
	}
}
