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
	n, limit := len(page.Pets), cmp.Or(q.Limit, petstore.DefaultLimit)
	var json []byte
	for i, pet := range page.Pets {
		if pet.ID <= after {
			return page, fmt.Errorf("ListPets(%+v): pet %d at index %d, want an ID above %d", q, pet.ID, i, after)
		}
		if i == limit || len(json) >= petstore.MaxPageBytes {
			return page, fmt.Errorf("ListPets(%+v) returned %d pets, want the first %d, which are the limit or reach petstore.MaxPageBytes", q, n, i)
		}
		after = pet.ID
		json, _ = pet.AppendJSON(json) // only its length counts
	}
	if n == 0 && q.After != "" {
		return page, fmt.Errorf("ListPets(%+v) returned no pets: After is the cursor of the page before, which says that more pets follow", q)
	}
	if page.Next != "" && n < limit && len(json) < petstore.MaxPageBytes {
		return page, fmt.Errorf("ListPets(%+v) returned %d pets, %d bytes of JSON, and a cursor, which a page has only after %d pets or petstore.MaxPageBytes",
			q, n, len(json), limit)
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

// wantPets fails unless the lists of every status, read with that limit, have the pets want
// in this order and no others, and Stats counts as many.
func (f *fixture) wantPets(t *testing.T, limit int, want []petstore.Pet) {
	t.Helper()
	for _, s := range statuses {
		q := petstore.ListQuery{Limit: limit, Status: s}
		want, got := withStatus(want, s), f.list(t, q)
		wantEqual(t, fmt.Sprintf("%d pets on all pages of ListPets(%+v), want %d", len(got), q, len(want)), want, got)
	}
	if f.Statistics == nil {
		return
	}
	if stats, err := f.Stats(t.Context()); err != nil || stats.Pets != int64(len(want)) {
		t.Fatalf("Stats counts %d pets (%v), want %d", stats.Pets, err, len(want))
	}
}

// withStatus returns those of the pets that a list of that status has.
func withStatus(pets []petstore.Pet, s petstore.Status) []petstore.Pet {
	return slices.DeleteFunc(slices.Clone(pets), func(p petstore.Pet) bool { return s != "" && p.Status != s })
}

func testPages(t *testing.T, f *fixture) {
	f.wantPets(t, 0, nil)
	all := f.fill(t, 123)
	for _, limit := range []int{0, 1, 2, 7, 20, 30, 31, 99, 100} {
		f.wantPets(t, limit, all)
	}
}

func testListQuery(t *testing.T, f *fixture) {
	f.fill(t, 3)
	for _, q := range []petstore.ListQuery{
		{Limit: -1},
		{Limit: 101},
		{Status: "unknown"},
		{Status: "SOLD"},
		{After: "x"},
	} {
		_, err := f.ListPets(t.Context(), q)
		wantCode(t, fmt.Sprintf("ListPets(%+v)", q), err, petstore.CodeInvalid)
	}
	// The store may have returned such a cursor before an older backup was imported.
	page, err := f.ListPets(t.Context(), petstore.ListQuery{After: petstore.CursorAfter(1 << 60)})
	if petstore.CodeOf(err) != petstore.CodeInvalid && (err != nil || len(page.Pets) > 0 || page.Next != "") {
		t.Fatalf("ListPets after all pets returned %d pets and the cursor %q (%v), want an empty page", len(page.Pets), page.Next, err)
	}
}

func testPageBytes(t *testing.T, f *fixture) {
	const half, rest = petstore.MaxPageBytes / 2, len(`{"id":1,"name":"","categoryId":0,"status":"sold"}`)
	var pets []petstore.Pet
	// If IDs have one digit, the first two pets are one byte too short to fill a page, so it
	// has three; the next two fill one exactly.
	for _, n := range []int{half, half - 1, 100, half, half, 100} {
		pets = append(pets, f.create(t, petstore.NewPet{Name: strings.Repeat("x", n-rest), Status: petstore.StatusSold}, noKey))
	}
	f.wantPets(t, petstore.MaxLimit, pets)
}
