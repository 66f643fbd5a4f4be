package storage_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/rules"
	"example.com/animalstore/petstore/storage"
)

// TestChangedWhileOpen damages the newer meta page of an open file, copies a backup over
// the file, renames it, or replaces it by another. The next write fails, and the store
// with it.
func TestChangedWhileOpen(t *testing.T) {
	for _, kind := range []string{"newer meta page", "newer meta page of an import", "older copy", "renamed", "replaced"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			path := dbPath(t)
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
					process.WriteFile(t, path, now)
				}
			case "older copy":
				process.WriteFile(t, path, old)
			case "newer meta page of an import": // the older one leads to the same state
				var export strings.Builder
				if err := s.Export(t.Context(), &export); err != nil {
					t.Fatal(err)
				}
				path = dbPath(t)
				if _, err := storage.Import(t.Context(), path, strings.NewReader(export.String())); err != nil {
					t.Fatal(err)
				}
				s = open(t, path)
				now = process.ReadFile(t, path)
				now[newerMeta(now)*pageSize+60] ^= 1
				process.WriteFile(t, path, now)
			case "newer meta page":
				now[newerMeta(now)*pageSize+60] ^= 1
				process.WriteFile(t, path, now)
			}
			if pet, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.IdempotencyKey{}); petstore.CodeOf(err) != petstore.CodeUnavailable {
				t.Errorf("CreatePet returned %v, %v", pet, err)
			}
			wantFailed(t, s)
			if _, err := s.GetPet(t.Context(), 1); petstore.CodeOf(err) != petstore.CodeUnavailable {
				t.Errorf("GetPet returned %v", err)
			}
			if s.Err() == nil || s.Close() == nil {
				t.Error("the store does not say why it failed")
			}
		})
	}
}

func wantFailed(t *testing.T, s *storage.Store) {
	t.Helper()
	select {
	case <-s.Failed():
	default:
		t.Error("the store has not failed")
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

// TestCutShort cuts a file that is open. Every call after that must return.
func TestCutShort(t *testing.T) {
	create := func(s *storage.Store) error {
		_, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.IdempotencyKey{})
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
	save := func(s *storage.Store) error { return s.Export(t.Context(), io.Discard) }
	for _, calls := range [][]func(*storage.Store) error{{create, create, get}, {get, get, create}, {save, get, create}} {
		path := dbPath(t)
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
		wantFailed(t, s)
	}
}

// TestDamageRefusesChanges damages records in the middle of a table. Once a read or a
// change has found the damage, changes are refused, and undamaged records can still be
// read.
func TestDamageRefusesChanges(t *testing.T) {
	t.Parallel()
	path := dbPath(t)
	whole := deep(t)
	digest := func(n int) string {
		key := rules.Digest(rules.CreatePet, keyOf(n))
		return string(key[:])
	}
	outcome := digest(deepOutcomes / 2)
	var outcomes []string
	for n := range deepOutcomes {
		outcomes = append(outcomes, digest(n))
	}
	slices.Sort(outcomes)
	for _, c := range []struct {
		name   string
		damage string // the bytes before the one that is changed
		find   func(s *storage.Store, n int) error
	}{
		{"a read", `"name":"pet 4001`, func(s *storage.Store, n int) error {
			id := whole.pets[n].ID
			_, err := s.GetPet(t.Context(), id)
			if err != nil && !strings.HasPrefix(err.Error(), fmt.Sprintf("the pet %d: ", id)) {
				t.Errorf("GetPet returned %v, want the pet %d named", err, id)
			}
			return err
		}},
		{"a list", `"name":"pet 4001`, func(s *storage.Store, n int) error {
			_, err := s.ListPets(t.Context(), petstore.ListQuery{Status: petOf(4001).Status, After: petstore.CursorAfter(whole.pets[n].ID)})
			return err
		}},
		{"a repeated create", outcome, func(s *storage.Store, n int) error {
			n = deepOutcomes/2 + n%(deepOutcomes/2)
			_, err := s.CreatePet(t.Context(), petOf(n), keyOf(n))
			return err
		}},
		{"a create with a key that follows", outcome, func(s *storage.Store, n int) error {
			n += deepOutcomes
			if i, _ := slices.BinarySearch(outcomes, digest(n)); i == 0 || outcomes[i-1] != outcome {
				return nil
			}
			_, err := s.CreatePet(t.Context(), petOf(n), keyOf(n))
			return err
		}},
		{"an export", `"name":"pet 4001`, func(s *storage.Store, n int) error {
			return s.Export(t.Context(), io.Discard)
		}},
		{"a removal", whole.queue[200].Text, func(s *storage.Store, n int) error {
			return s.RemoveMessages(t.Context(), whole.queue[200].ID)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			process.WriteFile(t, path, spoil(t, whole.file, c.damage))
			var log strings.Builder
			s, err := storage.Open(path, &storage.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for n := 0; err == nil && n < len(whole.pets); n++ {
				err = c.find(s, n)
			}
			for _, err := range []error{err, s.RemoveMessages(t.Context()), s.Export(t.Context(), io.Discard)} {
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

// A pet whose block is missing is damaged, and never not found.
func TestMissingBlock(t *testing.T) {
	d, path := deep(t), dbPath(t)
	process.WriteFile(t, path, d.file)
	edit(t, path, func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte("pets")).Cursor()
		c.First()
		c.Next()
		return c.Delete()
	})
	pets, others, wrong := d.read(t.Context(), open(t, path))
	if wrong != nil || pets == 0 || pets == len(d.pets) || others == 0 {
		t.Errorf("%d pets and %d other reads are damaged, %v", pets, others, wrong)
	}
}
