package storagetest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/animalstore/petstore"
)

// exactPets are pets that a store must return bit for bit.
func exactPets() []petstore.NewPet {
	return []petstore.NewPet{
		{},
		{Name: "  two  spaces\t\r\n "},
		{Name: "a\x00b\x00"},
		{Name: "\x01\x02\x1f\x7f\u0080\u009f"},
		{Name: `"\/'` + "`"},
		{Name: "<b>&amp;</b>\u2028\u2029"},
		{Name: "🐕‍🦺 𝒜 \U0010FFFF"},
		{Name: "e\u0301 é \u202eright"},
		{Name: "\ufffd\ufeff"},
		{Name: "ReX rEx"},
		{Name: `{"id":1}`, Status: petstore.StatusSold},
		{Name: strings.Repeat("ä", 32<<10), Status: petstore.StatusPending},
		{Name: strings.Repeat("x", petstore.MaxTextBytes), Status: petstore.StatusAvailable},
		{Name: strings.Repeat("\x01", petstore.MaxTextBytes)}, // more than petstore.MaxPageBytes of JSON
		{CategoryID: math.MaxInt64, Status: petstore.StatusAvailable},
		{CategoryID: math.MinInt64, Status: petstore.StatusPending},
		{CategoryID: 1<<53 + 1, Status: petstore.StatusSold},
		{CategoryID: -(1<<53 + 1)},
		SamplePet().NewPet,
	}
}

func testGet(t *testing.T, f *fixture) {
	want := map[int64]petstore.Pet{}
	for _, p := range exactPets() {
		pet := f.create(t, p)
		wantEqual(t, fmt.Sprintf("CreatePet(%.50q)", p.Name), p, pet.NewPet)
		want[pet.ID] = pet
	}
	check := func() {
		t.Helper()
		for id, pet := range want {
			got, err := f.GetPet(t.Context(), id)
			if err != nil {
				t.Fatalf("GetPet(%d): %v", id, err)
			}
			wantEqual(t, fmt.Sprintf("GetPet(%d)", id), pet, got)
		}
		for _, got := range f.list(t, petstore.ListQuery{}) {
			wantEqual(t, "a pet from ListPets", want[got.ID], got)
		}
		for _, s := range petstore.Statuses() {
			for _, got := range f.list(t, petstore.ListQuery{Status: s}) {
				wantEqual(t, fmt.Sprintf("a pet from ListPets, status %q", s), want[got.ID], got)
			}
		}
	}
	last := slices.Max(slices.Collect(maps.Keys(want)))
	for _, id := range []int64{0, -1, last + 1, math.MaxInt64, math.MinInt64} {
		_, err := f.GetPet(t.Context(), id)
		wantCode(t, fmt.Sprintf("GetPet(%d) of a missing pet", id), err, petstore.CodeNotFound)
	}
	check()
	f.reopen(t)
	check()
}

func testInvalid(t *testing.T, f *fixture) {
	for _, p := range []petstore.NewPet{
		{Name: "\xff"},
		{Name: "ok\xed\xa0\x80"}, // a surrogate
		{Name: "ok", Status: "unknown"},
		{Name: "ok", Status: "Available"},
		{Name: "ok", Status: " "},
		{Name: strings.Repeat("x", petstore.MaxTextBytes+1)},
	} {
		_, err := f.CreatePet(t.Context(), p, petstore.IdempotencyKey{Scope: "s", Key: "k"})
		wantCode(t, fmt.Sprintf("CreatePet(%.100v)", p), err, petstore.CodeInvalid)
	}
	f.wantPets(t, 0)

	// A refusal is not remembered.
	f.createWithKey(t, petstore.NewPet{}, petstore.IdempotencyKey{Scope: "s", Key: "k"})
	f.wantPets(t, 1)
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
	statuses := append(petstore.Statuses(), "")
	var callers, read atomic.Int64 // read: the ID of a pet that a list has returned
	results := concurrently(t, "one of 16 callers", func() (r result, err error) {
		caller := callers.Add(1)
		r.rest = petstore.ListQuery{Limit: 2, Status: statuses[caller%4]}
		for i := range each {
			before := read.Load()
			p := petstore.NewPet{CategoryID: each*caller + i, Status: statuses[i%4]}
			pet, err := f.CreatePet(t.Context(), p, petstore.IdempotencyKey{})
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
	f.wantPets(t, len(all))
}
