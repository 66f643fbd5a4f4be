package storagetest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/animalstore/petstore"
)

// statuses are those that a pet may have, and those that a list may be of; "": none, or any.
var statuses = append(petstore.Statuses(), "")

var noKey petstore.IdempotencyKey

// SamplePet returns a pet whose every field has another value than zero, so that a test
// finds a layer that loses one. [Run] passes its NewPet through the store under test.
func SamplePet() petstore.Pet {
	return petstore.Pet{ID: 1, NewPet: petstore.NewPet{Name: "Rex", CategoryID: 7, Status: petstore.StatusSold}}
}

// create adds a pet that must be accepted.
func (f *fixture) create(t *testing.T, p petstore.NewPet, key petstore.IdempotencyKey) petstore.Pet {
	t.Helper()
	pet, err := f.CreatePet(t.Context(), p, key)
	if err != nil {
		t.Fatalf("CreatePet(%.50q, %+v): %v", p.Name, key, err)
	}
	return pet
}

// fill adds n pets, with each status in turn.
func (f *fixture) fill(t *testing.T, n int) (pets []petstore.Pet) {
	t.Helper()
	for i := range n {
		pets = append(pets, f.create(t, petstore.NewPet{Name: fmt.Sprint("pet ", i), Status: statuses[i%4]}, noKey))
	}
	return pets
}

func testGet(t *testing.T, f *fixture) {
	var want []petstore.Pet
	for _, p := range []petstore.NewPet{
		{},
		{Name: "  two  spaces\t\r\n "},
		{Name: "\x00a\x00b\x00"},
		{Name: "\x01\x02\x1f\x7f\u0080\u009f\u202eright\ufffd\ufeff"},
		{Name: `"\/'` + "`<b>&amp;</b>\u2028\u2029"},
		{Name: "🐕‍🦺 𝒜 \U0010FFFF e\u0301 é ReX rEx"},
		{Name: `{"id":1}`, Status: petstore.StatusSold},
		{Name: strings.Repeat("ä", 32<<10), Status: petstore.StatusPending},
		{Name: strings.Repeat("x", petstore.MaxTextBytes), Status: petstore.StatusAvailable},
		{Name: strings.Repeat("\x01", petstore.MaxTextBytes)}, // more than petstore.MaxPageBytes of JSON
		{CategoryID: math.MaxInt64, Status: petstore.StatusAvailable},
		{CategoryID: math.MinInt64, Status: petstore.StatusPending},
		{CategoryID: 1<<53 + 1, Status: petstore.StatusSold},
		{CategoryID: -(1<<53 + 1)},
		SamplePet().NewPet,
	} {
		pet := f.create(t, p, noKey)
		wantEqual(t, fmt.Sprintf("CreatePet(%.50q)", p.Name), p, pet.NewPet)
		want = append(want, pet)
	}
	for _, id := range []int64{0, -1, want[len(want)-1].ID + 1, math.MaxInt64, math.MinInt64} {
		_, err := f.GetPet(t.Context(), id)
		wantCode(t, fmt.Sprintf("GetPet(%d) of a missing pet", id), err, petstore.CodeNotFound)
	}
	for range 2 {
		for _, pet := range want {
			got, err := f.GetPet(t.Context(), pet.ID)
			if err != nil {
				t.Fatalf("GetPet(%d): %v", pet.ID, err)
			}
			wantEqual(t, fmt.Sprintf("GetPet(%d)", pet.ID), pet, got)
		}
		f.wantPets(t, 0, want)
		f.reopen(t)
	}
}

func testInvalid(t *testing.T, f *fixture) {
	key := petstore.IdempotencyKey{Scope: "s", Key: "k"}
	for _, p := range []petstore.NewPet{
		{Name: "\xff"},
		{Name: "ok\xed\xa0\x80"}, // a surrogate
		{Name: "ok", Status: "unknown"},
		{Name: "ok", Status: "Available"},
		{Name: "ok", Status: " "},
		{Name: strings.Repeat("x", petstore.MaxTextBytes+1)},
	} {
		_, err := f.CreatePet(t.Context(), p, key)
		wantCode(t, fmt.Sprintf("CreatePet(%.50q, status %q)", p.Name, p.Status), err, petstore.CodeInvalid)
	}
	pet := f.create(t, petstore.NewPet{}, key) // a refusal is not remembered
	f.wantPets(t, 0, []petstore.Pet{pet})
}

// testConcurrent checks that a pet that a create or a read has returned is there for
// all later reads, and that a list to which pets are added meanwhile has each of them
// once.
func testConcurrent(t *testing.T, f *fixture) {
	const each = int64(20) // creates of a caller
	type result struct {
		created, listed []petstore.Pet
		rest            petstore.ListQuery // of the pets after those listed
	}
	var callers, read atomic.Int64 // read: the ID of a pet that a list has returned
	results := concurrently(t, "one of 16 callers", func() (r result, err error) {
		caller := callers.Add(1)
		r.rest = petstore.ListQuery{Limit: 2, Status: statuses[caller%4]}
		for i := range each {
			before := read.Load()
			p := petstore.NewPet{CategoryID: each*caller + i, Status: statuses[i%4]}
			pet, err := f.CreatePet(t.Context(), p, noKey)
			if err != nil {
				return r, fmt.Errorf("CreatePet(%+v): %w", p, err)
			}
			r.created = append(r.created, pet)
			for _, id := range []int64{cmp.Or(before, pet.ID), pet.ID} {
				if _, err := f.GetPet(t.Context(), id); err != nil {
					return r, fmt.Errorf("GetPet(%d), which CreatePet or ListPets has returned: %w", id, err)
				}
			}
			for last := int64(0); len(r.listed) < 1000; { // more than there are
				page, err := f.page(t.Context(), r.rest, last)
				if err != nil {
					return r, err
				}
				if n := len(page.Pets); n > 0 {
					last = page.Pets[n-1].ID
					read.Store(last)
				}
				if page.Next == "" { // more pets may follow later
					break
				}
				r.listed = append(r.listed, page.Pets...)
				r.rest.After = page.Next
			}
		}
		return r, nil
	})
	var all []petstore.Pet
	for _, r := range results {
		all = append(all, r.created...)
	}
	slices.SortFunc(all, func(a, b petstore.Pet) int { return cmp.Compare(a.ID, b.ID) })
	for _, r := range results {
		got := append(r.listed, f.list(t, r.rest)...)
		wantEqual(t, "ListPets while pets are added", withStatus(all, r.rest.Status), got)
	}
	f.wantPets(t, 0, all)
}
