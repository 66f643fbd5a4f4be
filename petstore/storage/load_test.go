package storage_test

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
)

// pets returns n pets. The one at index bad has an invalid status; -1: none has.
func pets(n, bad int) iter.Seq[petstore.NewPet] {
	return func(yield func(petstore.NewPet) bool) {
		for i := range n {
			p := petOf(i)
			if i == bad {
				p.Status = "none"
			}
			if !yield(p) {
				return
			}
		}
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pets.db")
	s := open(t, path)
	wantStored := func(want int64) {
		t.Helper()
		stats, err := s.Stats(t.Context())
		if err != nil || stats.Pets != want {
			t.Fatalf("the store holds %d pets (%v), want %d", stats.Pets, err, want)
		}
	}
	if n, err := s.Load(t.Context(), pets(0, -1)); n != 0 || err != nil {
		t.Errorf("loading nothing: %d, %v", n, err)
	}
	const many = 120_001 // more than two transactions
	if n, err := s.Load(t.Context(), pets(many, -1)); n != many || err != nil {
		t.Fatalf("loaded %d, %v", n, err)
	}
	wantStored(many)
	if n, err := s.Load(t.Context(), pets(10, 7)); n != 7 || petstore.CodeOf(err) != petstore.CodeInvalid {
		t.Errorf("loaded %d, %v; want the 7 before the bad one", n, err)
	}
	wantStored(many + 7)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := s.Load(ctx, pets(10, -1)); n != 0 || err == nil {
		t.Errorf("with a cancelled context: %d, %v", n, err)
	}
	wantStored(many + 7)

	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	next := petstore.Cursor("")
	for id := int64(1); id <= many+7; {
		page, err := s.ListPets(t.Context(), petstore.ListQuery{Limit: 100, After: next})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range page.Pets {
			if want := (id - 1) % many; p.ID != id || p.CategoryID != want || p.Name != fmt.Sprint("pet ", want) {
				t.Fatalf("the pet %d is %+v", id, p)
			}
			id++
		}
		next = page.Next
	}
}

// TestReadWhileWriting reads and lists pets while others are added and the file
// grows so much that it is mapped again.
func TestReadWhileWriting(t *testing.T) {
	t.Parallel()
	added := petstore.NewPet{Name: strings.Repeat("x", 1<<10), Status: petstore.StatusSold}
	const readers, writers, loads, each = 4, 4, 25, 100
	s := open(t, filepath.Join(t.TempDir(), "pets.db"))
	if _, err := s.Load(t.Context(), pets(1000, -1)); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	errs := make(chan error)
	for i := range readers {
		go func() {
			var err error
			for n := i; ctx.Err() == nil && err == nil; n++ {
				q := petstore.ListQuery{Status: append(petstore.Statuses(), "")[n%4], After: petstore.CursorAfter(int64(n%1000) + 1)}
				if _, _, err = s.AppendPage(t.Context(), nil, q); err == nil {
					_, err = s.AppendPet(t.Context(), nil, int64(n%1000)+1)
				}
			}
			errs <- err
		}()
	}
	for range writers {
		go func() {
			var err error
			for n := 0; n < loads && err == nil; n++ {
				_, err = s.Load(t.Context(), slices.Values(slices.Repeat([]petstore.NewPet{added}, each)))
			}
			errs <- err
		}()
	}
	for i := range readers + writers {
		if i == writers {
			stop()
		}
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	stats, err := s.Stats(t.Context())
	if want := int64(1000 + writers*loads*each); err != nil || stats.Pets != want {
		t.Errorf("the store holds %d pets (%v), want %d", stats.Pets, err, want)
	}
}
