package storage_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// TestLeafHeader flips bits in the headers of leaves and of the freelist, one
// in each copy of a file, and writes to the copy.
func TestLeafHeader(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "damaged.db")
	whole := deep(t)
	inUse := used(whole.file)
	pages := append(pagesOf(inUse, leafPage), pagesOf(inUse, freelistPage)...)
	r := rand.New(rand.NewPCG(*seed, 0))
	count := map[string]int{}
	for i := range *damages / 5 {
		page, bit := pages[r.IntN(len(pages))], r.IntN(128)
		if i%2 == 0 {
			bit = 96 + r.IntN(4) // the page claims pages after it that are not its own: bbolt would free them
		}
		b := slices.Clone(whole.file)
		pageOf(b, page)[bit/8] ^= 1 << (bit % 8)
		writeFile(t, path, b)
		count[writeDamaged(t, fmt.Sprintf("bit %d of page %d", bit, page), path, whole.clone())]++
	}
	t.Logf("%d damaged copies: %v", *damages/5, count)
	if count["a change was refused"] == 0 {
		t.Error("no damage was found by a change")
	}
}

// openLogged opens a store that logs to a string.
func openLogged(path string) (*storage.Store, *strings.Builder, error) {
	var log strings.Builder
	s, err := storage.Open(path, &storage.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	return s, &log, err
}

// writeDamaged opens a damaged file, writes to it, and opens and reads it
// again. It returns what happened.
func writeDamaged(t *testing.T, what, path string, d *stored) string {
	t.Helper()
	s, log, err := openLogged(path)
	if err != nil {
		return "refused on opening"
	}
	result := "all changes were made"
	if err := d.write(t.Context(), s); err != nil {
		result = "a change was refused"
		wantRefusal(t, what, s, err)
		if n := strings.Count(log.String(), "level=ERROR"); n != 1 || !strings.Contains(log.String(), "refserver check") {
			t.Errorf("%s: logged %d errors:\n%s", what, n, log.String())
		}
	}
	if err := s.Close(); err != nil {
		t.Errorf("%s: closing: %v", what, err)
		result = "failed"
	}
	s, err = storage.Open(path, nil)
	if err != nil {
		t.Errorf("%s: opening again: %v", what, err)
		return "could not be opened again"
	}
	defer s.Close()
	pets, others, wrong := d.read(t.Context(), s)
	if wrong = errors.Join(wrong, s.Err()); wrong != nil {
		t.Errorf("%s: %v", what, wrong)
		result = "wrong responses"
	}
	// To find the blocks on both sides of a leaf may need that leaf.
	if pets > 6*40 {
		t.Errorf("%s: %d pets cannot be read, and %d other reads failed", what, pets, others)
		result = "lost records"
	}
	return result
}

// wantRefusal checks that err, which a change returned, reports damage, and that
// a further change is refused in the same way.
func wantRefusal(t *testing.T, what string, s *storage.Store, err error) {
	t.Helper()
	again := s.RemoveMessages(t.Context())
	for _, err := range []error{err, again} {
		if !errors.Is(err, storage.ErrDamaged) || petstore.CodeOf(err) != petstore.CodeInternal {
			t.Errorf("%s: a change returned %v, want an error for damage", what, err)
		}
	}
	select {
	case <-s.Failed():
		t.Errorf("%s: the store has failed: %v", what, s.Err())
	default:
	}
}

// TestDamageRefusesChanges damages records in the middle of a table. Once a
// read or a change has found the damage, changes are refused, and undamaged
// records can still be read.
func TestDamageRefusesChanges(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pets.db")
	whole := deep(t)
	middle := func(outcomes int) []byte {
		key := keyOf(outcomes).Digest(petstore.OnceCreatePet)
		return key[:]
	}
	for _, c := range []struct {
		name   string
		damage []byte // the bytes before the one that is changed
		find   func(s *storage.Store, n int) error
	}{
		{"a read", []byte(`"name":"pet 4001`), func(s *storage.Store, n int) error {
			id := whole.pets[n].ID
			_, err := s.GetPet(t.Context(), id)
			if err != nil && !strings.HasPrefix(err.Error(), fmt.Sprintf("the pet %d: ", id)) {
				t.Errorf("GetPet returned %v, want the pet %d named", err, id)
			}
			return err
		}},
		{"a list", []byte(`"name":"pet 4001`), func(s *storage.Store, n int) error {
			_, err := s.ListPets(t.Context(), petstore.ListQuery{Status: petOf(4001).Status, After: petstore.CursorAfter(whole.pets[n].ID)})
			return err
		}},
		{"a repeated create", middle(deepOutcomes / 2), func(s *storage.Store, n int) error {
			n = deepOutcomes/2 + n%(deepOutcomes/2)
			_, err := s.CreatePet(t.Context(), petOf(n), keyOf(n))
			return err
		}},
		{"the expiry of outcomes", middle(0), func(s *storage.Store, n int) error {
			return s.RemoveMessages(t.Context())
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := slices.Clone(whole.file)
			for at := 0; bytes.Contains(b[at:], c.damage); b[at] ^= 1 {
				at += bytes.Index(b[at:], c.damage) + len(c.damage)
			}
			writeFile(t, path, b)
			s, log, err := openLogged(path)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for n := 0; err == nil && n < len(whole.pets); n++ {
				err = c.find(s, n)
			}
			wantRefusal(t, c.name, s, err)
			if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
				t.Errorf("logged %d errors:\n%s", n, log.String())
			}
			pets, others, wrong := whole.read(t.Context(), s)
			if wrong != nil || pets > 60 {
				t.Errorf("%d pets cannot be read, %d other reads failed: %v", pets, others, wrong)
			}
		})
	}
}
