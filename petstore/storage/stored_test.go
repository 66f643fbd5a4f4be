package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"

	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// stored is what was stored in a file.
type stored struct {
	file  []byte // after the store was closed, without what bbolt has not used of it
	pets  []petstore.Pet
	keyed map[int]petstore.Pet // those created with a key that is still remembered
	queue []petstore.Message

	// A repeated creation that failed may have been committed: by a commit that could not be
	// read again.
	uncertain bool
}

const (
	smallPets     = 300
	smallMessages = 20

	deepPets     = 9000
	deepOutcomes = 2500 // the first half of them has expired
	deepMessages = 400
)

// The keys that are still remembered.
var smallKeys, deepKeys = every(0, 40, 1), every(deepOutcomes/2, deepOutcomes, 50)

func every(from, to, step int) (numbers []int) {
	for n := from; n < to; n += step {
		numbers = append(numbers, n)
	}
	return numbers
}

// small has some of every kind of record, over several levels of pages. Each record was
// stored by a commit of its own.
var small = storedOnce(smallKeys, 0, func(t *testing.T, s *storage.Store) {
	for i := range smallPets {
		var key petstore.IdempotencyKey
		if i < len(smallKeys) {
			key = keyOf(i)
		}
		if _, err := s.CreatePet(t.Context(), petOf(i), key); err != nil {
			t.Fatal(err)
		}
	}
	for i := range smallMessages {
		if _, err := s.SubmitMessage(t.Context(), fmt.Sprint("message ", i), petstore.IdempotencyKey{}); err != nil {
			t.Fatal(err)
		}
	}
})

// deep has tables that are trees of several levels. Half of its outcomes have expired.
var deep = storedOnce(deepKeys, 25*time.Hour, func(t *testing.T, s *storage.Store) {
	inParallel(t, 0, deepPets, func(n int) error {
		_, err := s.CreatePet(t.Context(), petOf(n), petstore.IdempotencyKey{})
		return err
	})
	create := func(n int) error {
		_, err := s.CreatePet(t.Context(), petOf(n), keyOf(n))
		return err
	}
	inParallel(t, 0, deepOutcomes/2, create)
	inParallel(t, 0, deepMessages, func(n int) error {
		_, err := s.SubmitMessage(t.Context(), strings.Repeat(fmt.Sprint("message ", n), 8), petstore.IdempotencyKey{})
		return err
	})
	time.Sleep(23 * time.Hour) // the first half has not expired yet, so none of it is deleted
	inParallel(t, deepOutcomes/2, deepOutcomes, create)
	time.Sleep(2 * time.Hour) // it is now
	createPets(t, s, 1, deepPets+deepOutcomes+1)
})

// storedOnce returns a function that makes a store once, for all tests. fill is called in a
// bubble whose time is that long ago.
func storedOnce(keys []int, ago time.Duration, fill func(*testing.T, *storage.Store)) func(*testing.T) *stored {
	var once sync.Once
	var d *stored
	return func(t *testing.T) *stored {
		t.Helper()
		once.Do(func() {
			start := time.Now().Add(-ago).Round(0)
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(start)) // from the year 2000
				path := dbPath(t)
				s := open(t, path)
				s.NoSync()
				fill(t, s)
				d = storedIn(t, s, keys)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				d.file = process.ReadFile(t, path)
				d.file = d.file[:pageSize*pagesIn(d.file)]
			})
		})
		return d
	}
}

// storedIn reads what is stored in s.
func storedIn(t testing.TB, s *storage.Store, keys []int) *stored {
	t.Helper()
	d := &stored{keyed: map[int]petstore.Pet{}}
	for after := petstore.Cursor(""); len(d.pets) == 0 || after != ""; {
		page, err := s.ListPets(t.Context(), petstore.ListQuery{Limit: 100, After: after})
		if err != nil {
			t.Fatal(err)
		}
		d.pets, after = append(d.pets, page.Pets...), page.Next
	}
	for _, pet := range d.pets { // the last one with the name was created with the key
		if n := int(pet.CategoryID); slices.Contains(keys, n) {
			d.keyed[n] = pet
		}
	}
	var err error
	if d.queue, err = s.QueuedMessages(t.Context(), 1000); err != nil {
		t.Fatal(err)
	}
	return d
}

func keyOf(n int) petstore.IdempotencyKey { return petstore.IdempotencyKey{Key: fmt.Sprint("key ", n)} }

func petOf(n int) petstore.NewPet {
	return petstore.NewPet{Name: fmt.Sprint("pet ", n), CategoryID: int64(n), Status: append(petstore.Statuses(), "")[n%4]}
}

// read reads everything, and returns an error for each wrong result. It counts the pets
// that GetPet cannot read, and the other reads that fail.
func (d *stored) read(ctx context.Context, s *storage.Store) (pets, others int, wrong error) {
	judge := func(what, want, got any, err error) (failed int) {
		damaged := errors.Is(err, storage.ErrDamaged) && petstore.CodeOf(err) == petstore.CodeInternal
		switch {
		case damaged, s.Err() != nil && petstore.CodeOf(err) == petstore.CodeUnavailable:
			return 1
		case err != nil:
			wrong = errors.Join(wrong, fmt.Errorf("%v: %w", what, err))
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
		want := slices.DeleteFunc(slices.Clone(d.pets), func(p petstore.Pet) bool { return status != "" && p.Status != status })
		after := petstore.Cursor("")
		for want := range slices.Chunk(want, 100) {
			page, err := s.ListPets(ctx, petstore.ListQuery{Status: status, Limit: 100, After: after})
			others += judge("list "+status, want, page.Pets, err)
			after = petstore.CursorAfter(want[len(want)-1].ID)
		}
	}
	queue, err := s.QueuedMessages(ctx, 1000)
	others += judge("queue", d.queue, queue, err)
	for n, want := range d.keyed {
		got, err := s.CreatePet(ctx, want.NewPet, keyOf(n))
		d.uncertain = d.uncertain || err != nil
		others += judge(fmt.Sprint("repeated ", n), want, got, err)
	}
	return pets, others, wrong
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

// createPets creates n pets, one commit each, and checks that their IDs ascend from
// first.
func createPets(t testing.TB, s *storage.Store, n int, first int64) {
	t.Helper()
	for i := range n {
		pet, err := s.CreatePet(t.Context(), petstore.NewPet{Name: "Rex"}, petstore.IdempotencyKey{})
		if err != nil || pet.ID != first+int64(i) {
			t.Fatalf("created pet %d (%v), want %d", pet.ID, err, first+int64(i))
		}
	}
}

func countPets(t testing.TB, s *storage.Store) int64 {
	t.Helper()
	stats, err := s.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return stats.Pets
}

func open(t testing.TB, path string) *storage.Store {
	t.Helper()
	s, err := storage.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// makeStore makes a store with one pet and closes it.
func makeStore(t testing.TB, path string) {
	t.Helper()
	s := open(t, path)
	createPets(t, s, 1, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// edit changes the store's file with bbolt, without a Store.
func edit(t testing.TB, path string, fn func(*bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(fn), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// spoil returns a copy of a file in which a bit is flipped after each occurrence of
// text.
func spoil(t testing.TB, file []byte, text string) []byte {
	t.Helper()
	b := bytes.Clone(file)
	if !bytes.Contains(b, []byte(text)) {
		t.Fatalf("the file has no %q", text)
	}
	for at := 0; bytes.Contains(b[at:], []byte(text)); b[at] ^= 1 {
		at += bytes.Index(b[at:], []byte(text)) + len(text)
	}
	return b
}

// mustCheck fails the test unless the file is sound.
func mustCheck(t testing.TB, path string) {
	t.Helper()
	if err := storage.Check(path, nil); err != nil {
		t.Error(err)
	}
}

// wantFiles checks the names in a directory.
func wantFiles(t testing.TB, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("the directory holds %q, want %q", got, want)
	}
}

// dbPath returns a path in a folder of the test's own.
func dbPath(t testing.TB) string { return filepath.Join(t.TempDir(), "pets.db") }
