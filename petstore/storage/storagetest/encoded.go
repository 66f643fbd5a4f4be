package storagetest

import (
	"testing"

	"example.com/animalstore/petstore"
)

// testEncoded compares EncodedReader with Service.
func testEncoded(t *testing.T, f *fixture) {
	if f.EncodedReader == nil {
		t.Skip("the store is not a petstore.EncodedReader")
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
		wantCode(t, "AppendPet", err, petstore.CodeOf(wantErr))
		wantEqual(t, "AppendPet", string(want), string(got))
	}
	for _, q := range []petstore.ListQuery{{}, {Limit: 2}, {Status: petstore.StatusSold}, {Status: "unknown"}} {
		got, next, err := f.AppendPage(t.Context(), []byte(before), q)
		page, wantErr := f.ListPets(t.Context(), q)
		want := []byte(before)
		if wantErr == nil {
			want, _ = page.AppendJSON(want)
		}
		wantCode(t, "AppendPage", err, petstore.CodeOf(wantErr))
		wantEqual(t, "AppendPage", string(want), string(got))
		wantEqual(t, "AppendPage's cursor", page.Next, next)
	}
}
