package storage_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// deep is the contents of a store whose tables are trees of several levels.
type deep struct {
	pets  []petstore.Pet
	keyed []int64 // the IDs of the pets made with keys that are still remembered
	queue []petstore.Message
}

const (
	deepPets     = 9000
	deepOutcomes = 2500 // the first half of them has expired
	deepMessages = 400
)

// deepNow is the time when a deep store is ready. Its old outcomes have expired
// then, and each change deletes some of them.
var deepNow = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func deepKey(n int) petstore.Once { return petstore.Once{Key: fmt.Sprint("key ", n)} }

func keyedPet(n int) petstore.NewPet {
	return petstore.NewPet{Name: fmt.Sprint("keyed ", n), Status: petstore.Statuses()[n%3]}
}

// makeDeep makes a deep store at path.
func makeDeep(t *testing.T, path string) *deep {
	t.Helper()
	now := deepNow.Add(-50 * time.Hour)
	s, err := storage.Open(path, &storage.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(t.Context(), pets(deepPets, -1)); err != nil {
		t.Fatal(err)
	}
	d := &deep{keyed: make([]int64, deepOutcomes)}
	keyed := func(from, to int) {
		inParallel(t, from, to, func(n int) error {
			p, err := s.CreatePet(t.Context(), keyedPet(n), deepKey(n))
			d.keyed[n] = p.ID
			return err
		})
	}
	keyed(0, deepOutcomes/2)
	now = deepNow.Add(-25 * time.Hour) // from now on, another table takes the outcomes
	inParallel(t, 0, deepMessages, func(n int) error {
		_, err := s.SubmitMessage(t.Context(), strings.Repeat(fmt.Sprint("message ", n), 8), petstore.Once{})
		return err
	})
	now = deepNow.Add(-2 * time.Hour) // before the old outcomes are deleted
	keyed(deepOutcomes/2, deepOutcomes)
	var after petstore.Cursor
	for more := true; more; more = after != "" {
		page, err := s.ListPets(t.Context(), petstore.ListQuery{Limit: 100, After: after})
		if err != nil {
			t.Fatal(err)
		}
		d.pets, after = append(d.pets, page.Pets...), page.Next
	}
	if d.queue, err = s.QueuedMessages(t.Context(), 1000); err != nil {
		t.Fatal(err)
	}
	now = deepNow // the next change deletes old outcomes
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return d
}

// inParallel calls fn for each n from from to to-1, 64 at a time.
func inParallel(t testing.TB, from, to int, fn func(n int) error) {
	t.Helper()
	errs := make(chan error)
	for i := range 64 {
		go func() {
			var err error
			for n := from + i; n < to && err == nil; n += 64 {
				err = fn(n)
			}
			errs <- err
		}()
	}
	for range 64 {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
}

// write makes many changes, until one fails, and updates d with those that were
// made.
func (d *deep) write(ctx context.Context, s *storage.Store, r *rand.Rand) error {
	for round := range 12 {
		type made struct {
			pet petstore.Pet
			err error
		}
		results := make(chan made)
		for i := range 8 {
			once := petstore.Once{}
			if i < 6 {
				once.Key = fmt.Sprint("new ", round, i)
			}
			go func() {
				pet, err := s.CreatePet(ctx, keyedPet(round+i), once)
				results <- made{pet, err}
			}()
		}
		i := r.IntN(len(d.queue))
		err := s.RemoveMessages(ctx, d.queue[i].ID)
		if err == nil {
			d.queue = slices.Delete(d.queue, i, i+1)
			var m petstore.Message
			if m, err = s.SubmitMessage(ctx, "a message", petstore.Once{}); err == nil {
				d.queue = append(d.queue, m)
			}
		}
		for range 8 {
			m := <-results
			if m.err == nil {
				d.pets = append(d.pets, m.pet)
			}
			err = errors.Join(err, m.err)
		}
		slices.SortFunc(d.pets, func(a, b petstore.Pet) int { return int(a.ID - b.ID) })
		if err != nil {
			return err
		}
	}
	return nil
}

// read reads everything, and returns an error for each wrong result. It counts
// the pets that GetPet cannot read, and the other reads that fail.
func (d *deep) read(ctx context.Context, s *storage.Store) (pets, others int, wrong error) {
	judge := func(what, want, got any, err error) (failed int) {
		switch {
		case err != nil && (!errors.Is(err, storage.ErrDamaged) || petstore.CodeOf(err) != petstore.CodeInternal):
			wrong = errors.Join(wrong, fmt.Errorf("%v: %w", what, err))
		case err != nil:
			return 1
		case !reflect.DeepEqual(want, got): // cmp is slow
			wrong = errors.Join(wrong, fmt.Errorf("%v (-want +got): %.300s", what, cmp.Diff(want, got)))
		}
		return 0
	}
	for _, want := range d.pets {
		got, err := s.GetPet(ctx, want.ID)
		pets += judge(want.ID, want, got, err)
	}
	for _, status := range append(petstore.Statuses(), "") {
		var want []petstore.Pet
		for _, p := range d.pets {
			if status == "" || p.Status == status {
				want = append(want, p)
			}
		}
		after := petstore.Cursor("")
		for ; len(want) > 0; want = want[min(100, len(want)):] {
			page, err := s.ListPets(ctx, petstore.ListQuery{Status: status, Limit: 100, After: after})
			others += judge("list "+status, want[:min(100, len(want))], page.Pets, err)
			after = petstore.CursorAfter(want[min(100, len(want))-1].ID)
		}
	}
	queue, err := s.QueuedMessages(ctx, 1000)
	others += judge("queue", d.queue, queue, err)
	for n := deepOutcomes / 2; n < deepOutcomes; n += 50 {
		pet, err := s.CreatePet(ctx, keyedPet(n), deepKey(n))
		others += judge(fmt.Sprint("repeated ", n), petstore.Pet{ID: d.keyed[n], NewPet: keyedPet(n)}, pet, err)
	}
	return pets, others, wrong
}

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
	dir := t.TempDir()
	path := filepath.Join(dir, "whole.db")
	whole := makeDeep(t, path)
	file := mustRead(t, path)
	type header struct {
		what string
		page uint64
		bit  int
	}
	var headers []header
	leaves := storage.Leaves(t, path)
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
	path = filepath.Join(dir, "damaged.db")
	for _, h := range headers[:min(len(headers), *damages/5)] {
		what := fmt.Sprintf("bit %d, %s (page %d)", h.bit, h.what, h.page)
		b := slices.Clone(file)
		b[int(h.page)*pageSize+h.bit/8] ^= 1 << (h.bit % 8)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		d := &deep{slices.Clone(whole.pets), whole.keyed, slices.Clone(whole.queue)}
		count[writeDamaged(t, what, path, d, r)]++
	}
	t.Logf("%d of %d damaged copies: %v", min(len(headers), *damages/5), len(headers), count)
	if count["a change was refused"] == 0 {
		t.Error("no damage was found by a change")
	}
}

// writeDamaged opens a damaged file, writes to it, and opens and reads it
// again. It returns what happened.
func writeDamaged(t *testing.T, what, path string, d *deep, r *rand.Rand) string {
	t.Helper()
	var log strings.Builder
	options := &storage.Options{
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Now:    func() time.Time { return deepNow },
	}
	s, err := storage.Open(path, options)
	if err != nil {
		return "refused on opening"
	}
	result := "all changes were made"
	if err := d.write(t.Context(), s, r); err != nil {
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
	s, err = storage.Open(path, options)
	if err != nil {
		t.Errorf("%s: opening again: %v", what, err)
		return "could not be opened again"
	}
	defer s.Close()
	pets, others, wrong := d.read(t.Context(), s)
	if wrong != nil {
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
	whole := makeDeep(t, path)
	file := mustRead(t, path)
	leaves := storage.Leaves(t, path)
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
			_, err := s.CreatePet(t.Context(), keyedPet(n), deepKey(n))
			return err
		}},
		{"the expiry of outcomes", "once/0", func(s *storage.Store, n int) error {
			return s.RemoveMessages(t.Context())
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ids := leaves[c.table]
			b := slices.Clone(file)
			page := pageOf(b, int(ids[len(ids)/2]))
			page[16+16*binary.NativeEndian.Uint16(page[10:])+60] ^= 1 // in the value of the first record
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			var log strings.Builder
			s, err := storage.Open(path, &storage.Options{
				Logger: slog.New(slog.NewTextHandler(&log, nil)),
				Now:    func() time.Time { return deepNow },
			})
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
