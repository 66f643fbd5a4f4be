package petstoretest

import (
	"net/http"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
)

// In any order, the pages of a list neither skip nor repeat a pet while pets are
// added.
func TestPages(t *testing.T) {
	add := func(names string) (pets []petstore.NewPet) {
		for _, name := range strings.Fields(names) {
			pets = append(pets, petstore.NewPet{Name: name})
		}
		return pets
	}
	srv := New(t, Difficult(1, "list-by-name", "ids-sparse"), Pets(add("d b c a"+strings.Repeat(" x", 120))...))
	var got []string
	var q petstore.ListQuery
	for q.Limit = 2; len(got) == 0 || q.After != "" && len(got) < 1000; {
		page, err := srv.Store.ListPets(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, pet := range page.Pets {
			got = append(got, pet.Name)
		}
		if q.After = page.Next; len(got) == 2 {
			for _, pet := range add("aa bb") {
				if _, err := srv.Store.CreatePet(t.Context(), pet, petstore.Once{}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if want := "a b bb c d" + strings.Repeat(" x", 120); strings.Join(got, " ") != want {
		t.Errorf("listed %q, want %s", got, want)
	}
	for _, cursor := range []petstore.Cursor{"x", petstore.CursorAfter(777)} {
		if _, err := srv.Store.ListPets(t.Context(), petstore.ListQuery{After: cursor}); petstore.CodeOf(err) != petstore.CodeInvalid {
			t.Errorf("the cursor %q: %v", cursor, err)
		}
	}
	if pet, err := srv.Store.GetPet(t.Context(), sparse(1)|1<<52); petstore.CodeOf(err) != petstore.CodeNotFound {
		t.Errorf("a number that no pet has as its ID: %+v, %v", pet, err)
	}
}

// The server to which a link of link-elsewhere leads refuses the key. A client that
// sends the key there makes a mistake.
func TestElsewhere(t *testing.T) {
	srv, err := Start(Difficult(1, "link-elsewhere"), Pets(petstore.NewPet{}, petstore.NewPet{}))
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	get := func(target, key string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "GET", target, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		resp, err := srv.HTTP.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp
	}
	next, _, _ := strings.Cut(strings.TrimPrefix(get(srv.URL+"/pets?limit=1", srv.Key).Header.Get("Link"), "<"), ">")
	for _, key := range []string{"another", srv.Key} {
		if resp := get(next, key); resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s responds %s", next, resp.Status)
		}
		if found := len(srv.Findings()) > 0 && srv.Findings()[0].Name == "key-sent-elsewhere"; found != (key == srv.Key) {
			t.Errorf("with the key %s: found %v", key, srv.Findings())
		}
	}
}
