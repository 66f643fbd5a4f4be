package storage_test

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// TestChangedWhileOpen damages a meta page of an open file, copies a backup over
// the file, renames it, or replaces it by another. The store fails, with the next
// write or soon.
func TestChangedWhileOpen(t *testing.T) {
	for _, write := range []bool{false, true} {
		for _, kind := range []string{"newer meta page", "older meta page", "older copy", "renamed", "replaced"} {
			t.Run(fmt.Sprintf("%s, write %v", kind, write), func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "pets.db")
				s := open(t, path)
				createPets(t, s, 3, 1)
				old := process.ReadFile(t, path)
				createPets(t, s, 4, 4)
				now := process.ReadFile(t, path)
				newer := newerMeta(now)
				switch kind {
				case "renamed", "replaced":
					if err := os.Rename(path, path+".old"); err != nil {
						t.Fatal(err)
					}
					if kind == "replaced" {
						writeFile(t, path, now)
					}
				case "older copy":
					if err := os.WriteFile(path, old, 0o600); err != nil {
						t.Fatal(err)
					}
				case "newer meta page":
					flipMeta(t, path, now, newer, 500)
				case "older meta page":
					if write {
						t.Skip("the write overwrites it")
					}
					flipMeta(t, path, now, 1-newer, 500)
				}
				if write {
					if pet, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{}); petstore.CodeOf(err) != petstore.CodeUnavailable {
						t.Errorf("CreatePet returned %v, %v", pet, err)
					}
				}
				wantFailed(t, s)
			})
		}
	}
}

// wantFailed waits until the store fails.
func wantFailed(t *testing.T, s *storage.Store) {
	t.Helper()
	select {
	case <-s.Failed():
	case <-time.After(time.Minute):
		t.Fatal("the store has not failed")
	}
	if _, err := s.GetPet(t.Context(), 1); petstore.CodeOf(err) != petstore.CodeUnavailable {
		t.Errorf("GetPet returned %v", err)
	}
	if s.Err() == nil || s.Close() == nil {
		t.Error("the store does not say why it failed")
	}
}

var copies = flag.Int("copies", 8, "how often to copy a backup over a file while pets are created")

// TestCopiedWhileWriting copies a backup over the file at some moment of a
// commit. No ID may be issued twice, and Close must return.
func TestCopiedWhileWriting(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(*seed, 0))
	for i := range *copies {
		path := filepath.Join(t.TempDir(), "pets.db")
		s := open(t, path)
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
		closed := make(chan bool)
		go func() {
			_ = s.Close()
			close(closed)
		}()
		select {
		case <-closed:
		case <-time.After(time.Minute):
			t.Fatal("Close does not return")
		}
	}
}

// TestCycleWhileOpen makes a branch of an open file lead back to itself.
func TestCycleWhileOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pets.db")
	s := open(t, path)
	if _, err := s.Load(t.Context(), pets(20_000, -1)); err != nil {
		t.Fatal(err)
	}
	b := process.ReadFile(t, path)
	ids := pagesOf(used(b), branchPage)
	if len(ids) == 0 {
		t.Fatal("the file has no branch")
	}
	for _, id := range ids {
		branch := pageOf(b, id)
		last := 16 * int(binary.NativeEndian.Uint16(branch[10:]))
		binary.NativeEndian.PutUint64(branch[last+8:], uint64(id))
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{}); !errors.Is(err, storage.ErrDamaged) {
			t.Errorf("CreatePet returned %v", err)
		}
	}
}
