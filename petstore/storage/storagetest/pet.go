package storagetest

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/animalstore/petstore"
)

// exactPets are pets that a store must return bit for bit.
func exactPets() map[string]petstore.NewPet {
	return map[string]petstore.NewPet{
		"empty":       {},
		"spaces":      {Name: "  two  spaces\t\r\n "},
		"NUL":         {Name: "a\x00b\x00"},
		"controls":    {Name: "\x01\x02\x1f\x7f\u0080\u009f"},
		"quotes":      {Name: `"\/'` + "`"},
		"markup":      {Name: "<b>&amp;</b>\u2028\u2029"},
		"astral":      {Name: "🐕‍🦺 𝒜 \U0010FFFF"},
		"combining":   {Name: "e\u0301 é \u202eright"},
		"replacement": {Name: "\ufffd\ufeff"},
		"case":        {Name: "ReX rEx"},
		"json":        {Name: `{"id":1}`, Status: petstore.StatusSold},
		"64 KiB":      {Name: strings.Repeat("ä", 32<<10), Status: petstore.StatusPending},
		"256 KiB":     {Name: strings.Repeat("x", 256<<10), Status: petstore.StatusAvailable},
		"256 KiB ctl": {Name: strings.Repeat("\x01", 256<<10)},
		"max":         {CategoryID: math.MaxInt64, Status: petstore.StatusAvailable},
		"min":         {CategoryID: math.MinInt64, Status: petstore.StatusPending},
		"2^53+1":      {CategoryID: 1<<53 + 1, Status: petstore.StatusSold},
		"-2^53-1":     {CategoryID: -(1<<53 + 1)},
	}
}

func testGet(t *testing.T, f *fixture) {
	want := map[int64]petstore.Pet{}
	for name, p := range exactPets() {
		pet := f.create(t, p)
		wantEqual(t, name+": created", p, pet.NewPet)
		want[pet.ID] = pet
	}
	check := func() {
		t.Helper()
		for id, pet := range want {
			got, err := f.GetPet(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			wantEqual(t, "got", pet, got)
		}
		for _, got := range f.list(t, petstore.ListQuery{}) {
			wantEqual(t, "listed", want[got.ID], got)
		}
		for _, s := range petstore.Statuses() {
			for _, got := range f.list(t, petstore.ListQuery{Status: s}) {
				wantEqual(t, "listed by status", want[got.ID], got)
			}
		}
	}
	for _, id := range []int64{0, -1, int64(len(want)) + 1, math.MaxInt64, math.MinInt64} {
		if _, ok := want[id]; !ok {
			_, err := f.GetPet(t.Context(), id)
			wantCode(t, "GetPet of a missing pet", err, petstore.CodeNotFound)
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
		wantCode(t, "CreatePet", err, petstore.CodeInvalid)
	}
	f.wantPets(t, 0)

	// A refusal is not remembered.
	f.createOnce(t, petstore.NewPet{}, petstore.Once{Scope: "s", Key: "k"})
	f.wantPets(t, 1)
}

// testSeen checks that a pet that one read has returned is there for all later
// reads, whether its create has returned or not.
func testSeen(t *testing.T, f *fixture) {
	const pets = 300
	var seen atomic.Int64 // the highest ID that any reader got
	errs := make(chan error)
	for range 4 {
		go func() {
			q := petstore.ListQuery{Limit: 1}
			for n := 1; ; { // q returns the n-th pet, once there is one
				before := seen.Load()
				if _, err := f.GetPet(t.Context(), before); err != nil && before > 0 {
					errs <- fmt.Errorf("pet %d was there: %w", before, err)
					return
				}
				page, err := f.ListPets(t.Context(), q)
				if err == nil && len(page.Pets) == 1 {
					seen.CompareAndSwap(before, max(before, page.Pets[0].ID))
				}
				if err != nil || len(page.Pets) == 1 && n == pets {
					errs <- err
					return
				}
				if page.Next != "" {
					q.After = page.Next
					n++
				}
				runtime.Gosched() // to the store's own goroutines
			}
		}()
	}
	for range pets {
		f.create(t, petstore.NewPet{})
	}
	for range 4 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func testConcurrent(t *testing.T, f *fixture) {
	const callers, each = 16, 20
	created := make(chan petstore.Pet, callers*each)
	errs := make(chan error, callers)
	for c := range callers {
		go func() {
			var err error
			for i := 0; i < each && err == nil; i++ {
				var pet petstore.Pet
				p := petstore.NewPet{CategoryID: int64(c*each + i), Status: petstore.Statuses()[i%3]}
				if pet, err = f.CreatePet(t.Context(), p, petstore.Once{}); err != nil {
					break
				}
				created <- pet
				if _, err = f.GetPet(t.Context(), pet.ID); err != nil {
					break // an acknowledged pet is there at once
				}
				_, err = f.ListPets(t.Context(), petstore.ListQuery{Status: p.Status})
			}
			errs <- err
		}()
	}
	for range callers {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	close(created)
	byID := map[int64]petstore.Pet{}
	for pet := range created {
		if _, twice := byID[pet.ID]; twice {
			t.Errorf("two pets have the ID %d", pet.ID)
		}
		byID[pet.ID] = pet
	}
	f.wantPets(t, callers*each)
	for _, pet := range f.list(t, petstore.ListQuery{Limit: 100}) {
		wantEqual(t, "listed", byID[pet.ID], pet)
	}
}
