package storage_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// TestChangedWhileOpen damages the newer meta page of an open file, copies a backup over
// the file, renames it, or replaces it by another. The next write fails, and the store
// with it.
func TestChangedWhileOpen(t *testing.T) {
	for _, kind := range []string{"newer meta page", "older copy", "renamed", "replaced"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "pets.db")
			s := open(t, path)
			createPets(t, s, 3, 1)
			old := process.ReadFile(t, path)
			createPets(t, s, 4, 4)
			now := process.ReadFile(t, path)
			switch kind {
			case "renamed", "replaced":
				if err := os.Rename(path, path+".old"); err != nil {
					t.Fatal(err)
				}
				if kind == "replaced" {
					writeFile(t, path, now)
				}
			case "older copy":
				process.WriteFile(t, path, old)
			case "newer meta page":
				flipMeta(t, path, now, newerMeta(now), 500)
			}
			if pet, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{}); petstore.CodeOf(err) != petstore.CodeUnavailable {
				t.Errorf("CreatePet returned %v, %v", pet, err)
			}
			select {
			case <-s.Failed():
			default:
				t.Fatal("the store has not failed")
			}
			if _, err := s.GetPet(t.Context(), 1); petstore.CodeOf(err) != petstore.CodeUnavailable {
				t.Errorf("GetPet returned %v", err)
			}
			if s.Err() == nil || s.Close() == nil {
				t.Error("the store does not say why it failed")
			}
		})
	}
}

// within fails the test if fn does not return.
func within(t *testing.T, what string, fn func()) {
	t.Helper()
	ended := make(chan bool)
	go func() {
		defer close(ended)
		fn()
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal(what, "does not return")
	}
}

var copies = flag.Int("copies", 8, "how often to copy a backup over a file while pets are created")

// TestCopiedWhileWriting copies a backup over the file at some moment of a commit. No ID
// may be issued twice, and Close must return.
func TestCopiedWhileWriting(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(*seed, 0))
	for i := range *copies {
		path := filepath.Join(t.TempDir(), "pets.db")
		s, err := storage.Open(path, nil) // not closed by a cleanup, which may wait forever
		if err != nil {
			t.Fatal(err)
		}
		createPets(t, s, 20, 1)
		old := process.ReadFile(t, path)
		last := 20 + random.Int64N(8)
		createPets(t, s, int(last-20), 21)
		delay := time.Duration(random.IntN(8000)) * time.Microsecond
		copied := make(chan error)
		go func() {
			time.Sleep(delay)
			copied <- os.WriteFile(path, old, 0o600)
		}()
		for more := 60; more > 0; more-- {
			pet, err := s.CreatePet(t.Context(), petstore.NewPet{Name: "Mia"}, petstore.Once{})
			if err != nil {
				break
			}
			if pet.ID != last+1 {
				t.Errorf("copy %d: created pet %d after %d", i, pet.ID, last)
			}
			last = pet.ID
		}
		if err := <-copied; err != nil {
			t.Fatal(err)
		}
		within(t, "Close", func() { _ = s.Close() })
	}
}

// TestCutShort cuts a file that is open. Every call after that must return.
func TestCutShort(t *testing.T) {
	create := func(s *storage.Store) error {
		_, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{})
		return err
	}
	// What is in memory may still be read, unchanged.
	get := func(s *storage.Store) error {
		pet, err := s.GetPet(t.Context(), 1)
		if err == nil && pet.Name == "Rex" {
			return storage.ErrDamaged
		}
		return err
	}
	backup := func(s *storage.Store) error {
		_, _, err := s.Backup(t.Context())
		return err
	}
	for name, calls := range map[string][]func(*storage.Store) error{
		"create": {create, create, get},
		"get":    {get, get, create},
		"backup": {backup, get, create},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "pets.db")
			makeStore(t, path)
			s, err := storage.Open(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			process.WriteFile(t, path, make([]byte, 2*pageSize))
			within(t, "a call", func() {
				for _, call := range calls {
					if err := call(s); petstore.CodeOf(err) != petstore.CodeUnavailable && !errors.Is(err, storage.ErrDamaged) {
						t.Errorf("a call returned %v", err)
					}
				}
				if err := s.Close(); err == nil {
					t.Error("Close returned no error")
				}
			})
			select {
			case <-s.Failed():
			default:
				t.Error("the store has not failed")
			}
		})
	}
}

// TestDamageRefusesChanges damages records in the middle of a table. Once a read or a
// change has found the damage, changes are refused, and undamaged records can still be
// read.
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
			b := bytes.Clone(whole.file)
			for at := 0; bytes.Contains(b[at:], c.damage); b[at] ^= 1 {
				at += bytes.Index(b[at:], c.damage) + len(c.damage)
			}
			writeFile(t, path, b)
			var log strings.Builder
			s, err := storage.Open(path, &storage.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for n := 0; err == nil && n < deepPets/2; n++ {
				err = c.find(s, n)
			}
			for _, err := range []error{err, s.RemoveMessages(t.Context())} {
				if !errors.Is(err, storage.ErrDamaged) || petstore.CodeOf(err) != petstore.CodeInternal || s.Err() != nil {
					t.Errorf("a call returned %v, want an error for damage; the store has failed: %v", err, s.Err())
				}
			}
			if n := strings.Count(log.String(), "level=ERROR"); n != 1 || !strings.Contains(log.String(), "refserver check") {
				t.Errorf("logged %d errors:\n%s", n, log.String())
			}
			pets, others, wrong := whole.read(t.Context(), s)
			if wrong != nil || pets > 60 {
				t.Errorf("%d pets cannot be read, %d other reads failed: %v", pets, others, wrong)
			}
		})
	}
}

// TestReadWhileWriting reads and lists pets while others are added and the file grows.
// To open the file meanwhile fails because it is in use, never because it is damaged.
func TestReadWhileWriting(t *testing.T) {
	t.Parallel()
	added := petstore.NewPet{Name: strings.Repeat("x", 1<<10), Status: petstore.StatusSold}
	path := filepath.Join(t.TempDir(), "pets.db")
	s := open(t, path)
	if _, err := s.Load(t.Context(), pets(1000, -1)); err != nil {
		t.Fatal(err)
	}
	written := make(chan bool)
	readers := make(chan error)
	const n = 4
	for i := range n {
		go func() {
			var err error
			for n := i; err == nil; n++ {
				select {
				case <-written:
					readers <- nil
					return
				default:
				}
				q := petstore.ListQuery{Status: append(petstore.Statuses(), "")[n%4], After: petstore.CursorAfter(int64(n%1000) + 1)}
				if _, _, err = s.AppendPage(t.Context(), nil, q); err == nil {
					_, err = s.AppendPet(t.Context(), nil, int64(n%1000)+1)
				}
				if i == 0 {
					if _, e := storage.Open(path, nil); !errors.Is(e, storage.ErrLocked) {
						err = fmt.Errorf("opened again: %w", e)
					}
				}
			}
			readers <- err
		}()
	}
	inParallel(t, 0, 100, func(int) error {
		_, err := s.Load(t.Context(), func(yield func(petstore.NewPet) bool) {
			for i := 0; i < 100 && yield(added); i++ {
			}
		})
		return err
	})
	close(written)
	for range n {
		if err := <-readers; err != nil {
			t.Error(err)
		}
	}
	if stats, err := s.Stats(t.Context()); err != nil || stats.Pets != 11_000 {
		t.Errorf("the store holds %d pets (%v), want 11000", stats.Pets, err)
	}
}

// TestGivenUp: the callers of all changes that wait have given up when a slow commit is
// over. Later changes are made all the same.
func TestGivenUp(t *testing.T) {
	slow, begun := make(chan bool), make(chan bool, 1)
	s, err := storage.Open(filepath.Join(t.TempDir(), "pets.db"), &storage.Options{Committed: func(int, time.Duration) {
		select {
		case begun <- true:
		default:
		}
		<-slow
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	create := func(ctx context.Context) error {
		_, err := s.CreatePet(ctx, petstore.NewPet{}, petstore.Once{})
		return err
	}
	var callers sync.WaitGroup
	callers.Go(func() { _ = create(t.Context()) })
	<-begun
	busy := make(chan bool)
	for range 2500 { // more than may wait
		callers.Go(func() {
			if petstore.CodeOf(create(ctx)) == petstore.CodeUnavailable {
				select {
				case busy <- true:
				case <-ctx.Done():
				}
			}
		})
	}
	<-busy
	cancel()
	close(slow)
	callers.Wait()
	_ = create(t.Context()) // may find the queue full
	if err := create(t.Context()); err != nil {
		t.Error(err)
	}
}
