package storagetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
)

// page returns a page of q, and an error if it breaks a promise of petstore.Page. after is
// the last ID of the page before, whose cursor q has.
func (f *fixture) page(ctx context.Context, q petstore.ListQuery, after int64) (petstore.Page, error) {
	page, err := f.ListPets(ctx, q)
	if err != nil {
		return page, fmt.Errorf("ListPets(%+v): %w", q, err)
	}
	switch n, limit := len(page.Pets), cmp.Or(q.Limit, petstore.DefaultLimit); {
	case n > limit:
		return page, fmt.Errorf("ListPets(%+v) returned %d pets, want at most %d", q, n, limit)
	case n == 0 && page.Next != "":
		return page, fmt.Errorf("ListPets(%+v) returned no pets and the cursor %q, want no cursor: an empty page is the last", q, page.Next)
	case n == 0 && q.After != "":
		return page, fmt.Errorf("ListPets(%+v) returned no pets: After is the cursor of the page before, which says that more pets follow", q)
	}
	for i, pet := range page.Pets {
		if pet.ID <= after {
			return page, fmt.Errorf("ListPets(%+v): pet %d at index %d, want an ID above %d", q, pet.ID, i, after)
		}
		after = pet.ID
	}
	return page, nil
}

// list returns the pets on all pages of q.
func (f *fixture) list(t *testing.T, q petstore.ListQuery) (pets []petstore.Pet) {
	t.Helper()
	last := int64(0)
	for len(pets) < 1000 { // more than any test creates
		page, err := f.page(t.Context(), q, last)
		if err != nil {
			t.Fatal(err)
		}
		pets = append(pets, page.Pets...)
		if page.Next == "" {
			break
		}
		q.After, last = page.Next, pets[len(pets)-1].ID
	}
	return pets
}

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
	// The store may have returned such a cursor before an older backup was imported.
	page, err = f.ListPets(t.Context(), petstore.ListQuery{After: petstore.CursorAfter(1 << 60)})
	if petstore.CodeOf(err) != petstore.CodeInvalid && (err != nil || len(page.Pets) > 0 || page.Next != "") {
		t.Fatalf("ListPets after all pets returned %d pets and the cursor %q (%v), want an empty page", len(page.Pets), page.Next, err)
	}
}

func testPageBytes(t *testing.T, f *fixture) {
	const rest = len(`{"id":1,"name":"","categoryId":0,"status":"sold"}`)
	var pets []petstore.Pet
	// If IDs have one digit, the first pet lacks a byte to fill a page, and the third to
	// fifth fill one exactly.
	for _, n := range []int{petstore.MaxPageBytes - 1, 100, 100, petstore.MaxPageBytes - 200, 100, 100} {
		// Few enough bytes for a name: JSON escapes each \x01 with six.
		name := strings.Repeat("\x01", (n-rest)/6) + strings.Repeat("x", (n-rest)%6)
		pets = append(pets, f.create(t, petstore.NewPet{Name: name, Status: petstore.StatusSold}))
	}
	for _, s := range []petstore.Status{"", petstore.StatusSold} {
		q := petstore.ListQuery{Limit: 100, Status: s}
		for i := 0; i < len(pets); {
			want := 0
			for size := 0; size < petstore.MaxPageBytes && i < len(pets); i++ {
				json, _ := pets[i].AppendJSON(nil)
				size += len(json)
				want++
			}
			page, err := f.ListPets(t.Context(), q)
			if err != nil || len(page.Pets) != want {
				t.Fatalf("ListPets(%+v) of long names returned %d pets (%v), want the %d that reach petstore.MaxPageBytes, %d",
					q, len(page.Pets), err, want, petstore.MaxPageBytes)
			}
			q.After = page.Next
		}
	}
}
