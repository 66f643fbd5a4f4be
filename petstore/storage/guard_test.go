package storage_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// headerFields are the fields of a page's header, with their start and their
// length in bits.
var headerFields = []struct {
	name       string
	start, len int
}{{"id", 0, 64}, {"flags", 64, 16}, {"count", 80, 16}, {"overflow", 96, 32}}

// TestLeafHeader flips bits in the headers of leaves and of the freelist, one
// in each copy of a file, and writes to the copy.
func TestLeafHeader(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "damaged.db")
	whole := deep(t)
	type header struct {
		what string
		page uint64
		bit  int
	}
	var headers []header
	leaves := leavesOf(t, whole, path)
	for _, table := range slices.Sorted(maps.Keys(leaves)) {
		ids := leaves[table]
		for _, i := range slices.Compact([]int{0, len(ids) / 2, len(ids) - 1}) {
			for _, f := range headerFields {
				for bit := range f.len {
					headers = append(headers, header{fmt.Sprintf("%s of leaf %d of %q", f.name, i, table), ids[i], f.start + bit})
				}
			}
		}
	}
	r := rand.New(rand.NewPCG(*seed, 0))
	r.Shuffle(len(headers), func(i, j int) { headers[i], headers[j] = headers[j], headers[i] })

	count := map[string]int{}
	for _, h := range headers[:min(len(headers), *damages/5)] {
		what := fmt.Sprintf("bit %d, %s (page %d)", h.bit, h.what, h.page)
		b := slices.Clone(whole.file)
		b[int(h.page)*pageSize+h.bit/8] ^= 1 << (h.bit % 8)
		writeFile(t, path, b)
		count[writeDamaged(t, what, path, whole.clone())]++
	}
	t.Logf("%d of %d damaged copies: %v", min(len(headers), *damages/5), len(headers), count)
	if count["a change was refused"] == 0 {
		t.Error("no damage was found by a change")
	}
}

// leavesOf returns the leaves of a file by the names of their buckets.
func leavesOf(t *testing.T, d *stored, path string) map[string][]uint64 {
	t.Helper()
	writeFile(t, path, d.file)
	return storage.Leaves(t, path)
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
	if most := 6 * 40; pets > most || pets > 0 && !strings.Contains(what, `"pets"`) {
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

// TestDamageRefusesChanges damages a record in the middle of a table. Once a
// read or a change has found the damage, changes are refused, and undamaged
// records can still be read.
func TestDamageRefusesChanges(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pets.db")
	whole := deep(t)
	leaves := leavesOf(t, whole, path)
	for _, c := range []struct {
		name, table string
		find        func(s *storage.Store, n int) error
	}{
		{"a read", "pets", func(s *storage.Store, n int) error {
			_, err := s.GetPet(t.Context(), whole.pets[n].ID)
			return err
		}},
		{"a list", "status/sold", func(s *storage.Store, n int) error {
			_, err := s.ListPets(t.Context(), petstore.ListQuery{Status: petstore.StatusSold, After: petstore.CursorAfter(whole.pets[n].ID)})
			return err
		}},
		{"a repeated create", "once/1", func(s *storage.Store, n int) error {
			n = deepOutcomes/2 + n%(deepOutcomes/2)
			_, err := s.CreatePet(t.Context(), petOf(n), keyOf(n))
			return err
		}},
		{"the expiry of outcomes", "once/0", func(s *storage.Store, n int) error {
			return s.RemoveMessages(t.Context())
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ids := leaves[c.table]
			b := slices.Clone(whole.file)
			page := pageOf(b, int(ids[len(ids)/2]))
			page[16+16*binary.NativeEndian.Uint16(page[10:])+60] ^= 1 // in the value of the first record
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
			if wrong != nil || pets > 60 || pets > 0 && c.table != "pets" {
				t.Errorf("%d pets cannot be read, %d other reads failed: %v", pets, others, wrong)
			}
		})
	}
}
