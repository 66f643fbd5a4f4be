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
	var pets []petstore.Pet
	for _, p := range exactPets() {
		pets = append(pets, f.create(t, p))
	}
	f.fill(t, 40, pets...)
	const before = "before"
	for id := int64(-1); id < 70; id++ {
		got, err := f.AppendPet(t.Context(), []byte(before), id)
		pet, wantErr := f.GetPet(t.Context(), id)
		want := []byte(before)
		if wantErr == nil {
			want, _ = pet.AppendJSON(want)
		}
		wantCode(t, "AppendPet", err, petstore.CodeOf(wantErr))
		wantEqual(t, "AppendPet", string(want), string(got))
	}
	for _, s := range append(petstore.Statuses(), "", "unknown") {
		q := petstore.ListQuery{Limit: 7, Status: s}
		for done := false; !done; {
			got, next, err := f.AppendPage(t.Context(), []byte(before), q)
			page, wantErr := f.ListPets(t.Context(), q)
			want := []byte(before)
			if wantErr == nil {
				want, _ = page.AppendJSON(want)
			}
			wantCode(t, "AppendPage", err, petstore.CodeOf(wantErr))
			wantEqual(t, "AppendPage", string(want), string(got))
			wantEqual(t, "AppendPage's cursor", page.Next, next)
			q.After = next
			done = next == ""
		}
	}
}
