package storagetest

import (
	"fmt"
	"testing"

	"example.com/animalstore/petstore"
)

// testEncoded compares EncodedReader with Service.
func testEncoded(t *testing.T, f *fixture) {
	if f.EncodedReader == nil {
		t.Skip("the store is not a petstore.EncodedReader")
	}
	if f.Encodes(struct{ petstore.Service }{f.Service}) {
		t.Error("Encodes returns true for a type that embeds the store")
	}
	for _, p := range exactPets() {
		f.create(t, p)
	}
	const before = "before"
	for id := range int64(len(exactPets()) + 2) {
		got, err := f.AppendPet(t.Context(), []byte(before), id)
		pet, wantErr := f.GetPet(t.Context(), id)
		want := []byte(before)
		if wantErr == nil {
			want, _ = pet.AppendJSON(want)
		}
		compare(t, fmt.Sprintf("AppendPet(%d)", id), string(want), string(got), wantErr, err)
	}
	for _, q := range []petstore.ListQuery{{}, {Limit: 2}, {Status: petstore.StatusSold}, {Status: "unknown"}} {
		got, next, err := f.AppendPage(t.Context(), []byte(before), q)
		page, wantErr := f.ListPets(t.Context(), q)
		want := []byte(before)
		if wantErr == nil {
			want, _ = page.AppendJSON(want)
		}
		compare(t, fmt.Sprintf("AppendPage(%+v)", q), string(want), string(got), wantErr, err)
		wantEqual(t, fmt.Sprintf("the cursor of AppendPage(%+v)", q), page.Next, next)
	}
}
