package storagetest

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/animalstore/internal/members"
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
		{Name: strings.Repeat("x", 256<<10), Status: petstore.StatusAvailable},
		{Name: strings.Repeat("\x01", 256<<10)}, // more than petstore.MaxPageBytes of JSON
		{CategoryID: math.MaxInt64, Status: petstore.StatusAvailable},
		{CategoryID: math.MinInt64, Status: petstore.StatusPending},
		{CategoryID: 1<<53 + 1, Status: petstore.StatusSold},
		{CategoryID: -(1<<53 + 1)},
		members.Filled[petstore.NewPet](),
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
	for _, id := range []int64{0, -1, int64(len(want)) + 1, math.MaxInt64, math.MinInt64} {
		if _, ok := want[id]; !ok {
			_, err := f.GetPet(t.Context(), id)
			wantCode(t, fmt.Sprintf("GetPet(%d) of a missing pet", id), err, petstore.CodeNotFound)
		}
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
	} {
		_, err := f.CreatePet(t.Context(), p, petstore.Once{Scope: "s", Key: "k"})
		wantCode(t, fmt.Sprintf("CreatePet(%#v)", p), err, petstore.CodeInvalid)
	}
	f.wantPets(t, 0)

	// A refusal is not remembered.
	f.createOnce(t, petstore.NewPet{}, petstore.Once{Scope: "s", Key: "k"})
	f.wantPets(t, 1)
}

// testSeen checks that a pet that one read has returned is there for all later
// reads, whether its create has returned or not.
func testSeen(t *testing.T, f *fixture) {
	const readers, pets = 4, 300
	creating, created := context.WithCancel(t.Context())
	var seen atomic.Int64 // the highest ID that any reader got
	read := func() error {
		q, last := petstore.ListQuery{Limit: 1}, int64(0)
		for n := 1; ; { // q returns the n-th pet, once there is one
			over := creating.Err() != nil
			before := seen.Load()
			if _, err := f.GetPet(t.Context(), before); err != nil && before > 0 {
				return fmt.Errorf("GetPet(%d), a pet already read: %w", before, err)
			}
			page, err := f.page(t.Context(), q, last)
			if err != nil {
				return err
			}
			if len(page.Pets) == 1 {
				seen.CompareAndSwap(before, max(before, page.Pets[0].ID))
			}
			switch {
			case len(page.Pets) == 1 && n == pets:
				return nil
			case page.Next != "":
				q.After, last = page.Next, page.Pets[0].ID
				n++
			case over:
				return fmt.Errorf("ListPets(%+v) has no page after %d of %d pets", q, n, pets)
			}
			runtime.Gosched() // to the store's own goroutines
		}
	}
	errs := make(chan error, readers)
	for range readers {
		go func() { errs <- read() }()
	}
	for range pets {
		f.create(t, petstore.NewPet{})
	}
	created()
	for range readers {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
}

func testConcurrent(t *testing.T, f *fixture) {
	const each = 20
	var calls atomic.Int64
	created := concurrently(t, "one of 16 callers", func() (pets []petstore.Pet, err error) {
		for i := range each {
			p := petstore.NewPet{CategoryID: calls.Add(1), Status: petstore.Statuses()[i%3]}
			pet, err := f.CreatePet(t.Context(), p, petstore.Once{})
			if err != nil {
				return nil, fmt.Errorf("CreatePet(%+v): %w", p, err)
			}
			pets = append(pets, pet)
			if _, err := f.GetPet(t.Context(), pet.ID); err != nil { // an acknowledged pet is there at once
				return nil, fmt.Errorf("GetPet(%d) after its CreatePet: %w", pet.ID, err)
			}
			if _, err := f.ListPets(t.Context(), petstore.ListQuery{Status: p.Status}); err != nil {
				return nil, fmt.Errorf("ListPets: %w", err)
			}
		}
		return pets, nil
	})
	byID := map[int64]petstore.Pet{}
	for _, pet := range slices.Concat(created...) {
		if _, twice := byID[pet.ID]; twice {
			t.Fatalf("CreatePet returned the ID %d twice", pet.ID)
		}
		byID[pet.ID] = pet
	}
	f.wantPets(t, len(created)*each)
	for _, pet := range f.list(t, petstore.ListQuery{Limit: 100}) {
		wantEqual(t, "a pet from ListPets", byID[pet.ID], pet)
	}
}
