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
	check := func(what string, value interface{ AppendJSON([]byte) ([]byte, error) }, wantErr error, got []byte, err error) {
		t.Helper()
		want := []byte("before")
		if wantErr == nil {
			want, _ = value.AppendJSON(want)
		}
		wantCode(t, what, err, petstore.CodeOf(wantErr))
		wantEqual(t, what, string(want), string(got))
	}
	for id := range int64(len(exactPets()) + 2) {
		pet, wantErr := f.GetPet(t.Context(), id)
		got, err := f.AppendPet(t.Context(), []byte("before"), id)
		check(fmt.Sprintf("AppendPet(%d)", id), pet, wantErr, got, err)
	}
	for _, q := range []petstore.ListQuery{{}, {Limit: 2}, {Status: petstore.StatusSold}, {Status: "unknown"}, {After: "x"}} {
		page, wantErr := f.ListPets(t.Context(), q)
		got, next, err := f.AppendPage(t.Context(), []byte("before"), q)
		check(fmt.Sprintf("AppendPage(%+v)", q), page, wantErr, got, err)
		wantEqual(t, fmt.Sprintf("the cursor of AppendPage(%+v)", q), page.Next, next)
	}
}
