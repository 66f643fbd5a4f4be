package storagetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
)

func testPages(t *testing.T, f *fixture) {
	for _, s := range append(petstore.Statuses(), "") {
		page, err := f.ListPets(t.Context(), petstore.ListQuery{Status: s})
		if err != nil || len(page.Pets) != 0 || page.Next != "" {
			t.Fatalf("ListPets of an empty store returned %d pets and the cursor %q (%v)", len(page.Pets), page.Next, err)
		}
	}
	all := f.fill(t, 123)
	for _, s := range append(petstore.Statuses(), "") {
		want := withStatus(all, s)
		for _, limit := range []int{0, 1, 2, 7, 20, 30, 31, 99, 100} {
			q := petstore.ListQuery{Limit: limit, Status: s}
			got := f.list(t, q)
			wantEqual(t, fmt.Sprintf("%d pets from ListPets(%+v), want %d", len(got), q, len(want)), want, got)
		}
	}

	page, err := f.ListPets(t.Context(), petstore.ListQuery{})
	if err != nil || len(page.Pets) != petstore.DefaultLimit {
		t.Fatalf("ListPets without a limit returned %d pets (%v), want %d", len(page.Pets), err, petstore.DefaultLimit)
	}

	// A cursor is valid with any limit and any status.
	sold := f.list(t, petstore.ListQuery{After: page.Next, Limit: 3, Status: petstore.StatusSold})
	wantEqual(t, "the sold pets after the first page", withStatus(all[petstore.DefaultLimit:], petstore.StatusSold), sold)
}

// withStatus returns those of the pets that a list of that status has.
func withStatus(pets []petstore.Pet, s petstore.Status) []petstore.Pet {
	return slices.DeleteFunc(slices.Clone(pets), func(p petstore.Pet) bool { return s != "" && p.Status != s })
}

func testListQuery(t *testing.T, f *fixture) {
	f.fill(t, 30)
	page, err := f.ListPets(t.Context(), petstore.ListQuery{})
	if err != nil || page.Next == "" {
		t.Fatalf("ListPets of 30 pets returned the cursor %q (%v)", page.Next, err)
	}
	cursor := string(page.Next)
	for _, q := range []petstore.ListQuery{
		{Limit: -1},
		{Limit: 101},
		{Status: "unknown"},
		{Status: "SOLD"},
		{After: "x"},
		{After: page.Next + "A"},
		{After: petstore.Cursor(cursor[1:])},
		{After: petstore.Cursor(strings.ToLower(cursor))},
		{After: petstore.Cursor(cursor + "=")},
	} {
		_, err := f.ListPets(t.Context(), q)
		wantCode(t, fmt.Sprintf("ListPets(%+v)", q), err, petstore.CodeInvalid)
	}
}

func testPageBytes(t *testing.T, f *fixture) {
	const n = 40
	name := strings.Repeat("long name ", 20<<10) // 200 KiB
	for range n {
		f.create(t, petstore.NewPet{Name: name, Status: petstore.StatusSold})
	}
	for _, s := range []petstore.Status{"", petstore.StatusSold} {
		q := petstore.ListQuery{Limit: 100, Status: s}
		page, err := f.ListPets(t.Context(), q)
		want := petstore.MaxPageBytes/len(name) + 1
		if err != nil || len(page.Pets) != want || page.Next == "" {
			t.Fatalf("ListPets of long names returned %d pets and the cursor %q (%v), want %d and a cursor", len(page.Pets), page.Next, err, want)
		}
		if got := len(f.list(t, q)); got != n {
			t.Fatalf("ListPets(%+v) returned %d pets on all pages, want %d", q, got, n)
		}
	}
}
