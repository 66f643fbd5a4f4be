package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// stored is what was stored in a file.
type stored struct {
	file  []byte // after the store was closed
	old   []byte // at an earlier time
	pets  []petstore.Pet
	keyed map[int]petstore.Pet // those created with a key that is still remembered
	queue []petstore.Message
}

const (
	smallPets     = 300
	smallKeys     = 40
	smallMessages = 20

	deepPets     = 9000
	deepOutcomes = 2500 // the first half of them has expired
	deepMessages = 400
)

// small has some of every kind of record, over several levels of pages. Each record was
// stored by a commit of its own.
var small = storedOnce(func(t testing.TB, path string, d *stored) {
	s := open(t, path)
	for i := range smallPets {
		var once petstore.Once
		if i < smallKeys {
			once = keyOf(i)
		}
		if i == smallKeys*3/4 {
			d.old = used(process.ReadFile(t, path))
		}
		pet, err := s.CreatePet(t.Context(), petOf(i), once)
		if err != nil {
			t.Fatal(err)
		}
		if i < smallKeys {
			d.keyed[i] = pet
		}
	}
	for i := range smallMessages {
		if _, err := s.SubmitMessage(t.Context(), fmt.Sprint("message ", i), petstore.Once{}); err != nil {
			t.Fatal(err)
		}
	}
	d.close(t, s)
})

// deep has tables that are trees of several levels. Half of its outcomes have expired,
// and each change deletes some of them.
var deep = storedOnce(func(t testing.TB, path string, d *stored) {
	now := time.Now()
	s, err := storage.Open(path, &storage.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(t.Context(), pets(deepPets, -1)); err != nil {
		t.Fatal(err)
	}
	keyed := make([]petstore.Pet, deepOutcomes)
	create := func(n int) (err error) {
		keyed[n], err = s.CreatePet(t.Context(), petOf(n), keyOf(n))
		return err
	}
	inParallel(t, 0, deepOutcomes/2, create)
	now = now.Add(25 * time.Hour) // from now on, another table takes the outcomes
	inParallel(t, 0, deepMessages, func(n int) error {
		_, err := s.SubmitMessage(t.Context(), strings.Repeat(fmt.Sprint("message ", n), 8), petstore.Once{})
		return err
	})
	now = now.Add(23 * time.Hour) // before the old outcomes are deleted
	inParallel(t, deepOutcomes/2, deepOutcomes, create)
	for n := deepOutcomes / 2; n < deepOutcomes; n += 50 {
		d.keyed[n] = keyed[n]
	}
	now = now.Add(2 * time.Hour)
	d.close(t, s)
})

// storedOnce returns a function that calls fill once, for all tests.
func storedOnce(fill func(t testing.TB, path string, d *stored)) func(testing.TB) *stored {
	var once sync.Once
	d := &stored{keyed: map[int]petstore.Pet{}}
	return func(t testing.TB) *stored {
		once.Do(func() { fill(t, filepath.Join(t.TempDir(), "pets.db"), d) })
		return d
	}
}

func keyOf(n int) petstore.Once { return petstore.Once{Key: fmt.Sprint("key ", n)} }

func petOf(n int) petstore.NewPet {
	return petstore.NewPet{Name: fmt.Sprint("pet ", n), CategoryID: int64(n), Status: append(petstore.Statuses(), "")[n%4]}
}

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

// close reads what was stored, closes the store, and reads its file.
func (d *stored) close(t testing.TB, s *storage.Store) {
	t.Helper()
	var err error
	for after := petstore.Cursor(""); len(d.pets) == 0 || after != ""; {
		page, err := s.ListPets(t.Context(), petstore.ListQuery{Limit: 100, After: after})
		if err != nil {
			t.Fatal(err)
		}
		d.pets, after = append(d.pets, page.Pets...), page.Next
	}
	if d.queue, err = s.QueuedMessages(t.Context(), 1000); err != nil {
		t.Fatal(err)
	}
	path := s.Info().Path
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	d.file = process.ReadFile(t, path)
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
	var mu sync.Mutex
	var repeats sync.WaitGroup // at once, for few commits
	for n, want := range d.keyed {
		repeats.Go(func() {
			got, err := s.CreatePet(ctx, want.NewPet, keyOf(n))
			mu.Lock()
			defer mu.Unlock()
			others += judge(fmt.Sprint("repeated ", n), want, got, err)
		})
	}
	repeats.Wait()
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
		pet, err := s.CreatePet(t.Context(), petstore.NewPet{Name: "Rex"}, petstore.Once{})
		if err != nil || pet.ID != first+int64(i) {
			t.Fatalf("created pet %d (%v), want %d", pet.ID, err, first+int64(i))
		}
	}
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

// writeFile writes b to the file at path, without the zeros at its end: a store grows
// its file by 16 MiB at a time.
func writeFile(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := errors.Join(os.WriteFile(path, bytes.TrimRight(b, "\x00"), 0o600), os.Truncate(path, int64(len(b)))); err != nil {
		t.Fatal(err)
	}
}

// used cuts off what the file has not used yet, so that damage hits something.
func used(b []byte) []byte {
	n := len(bytes.TrimRight(b, "\x00"))
	return b[:(n+pageSize-1)/pageSize*pageSize]
}
