package storage_test

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

var everyBit = flag.Bool("every-bit", false, "flip each bit of the meta pages, not only a few")

// createPets creates n pets, one commit each, and checks that their IDs ascend
// from first.
func createPets(t *testing.T, s *storage.Store, n int, first int64) {
	t.Helper()
	for i := range n {
		pet, err := s.CreatePet(t.Context(), petstore.NewPet{Name: "Rex"}, petstore.Once{})
		if err != nil || pet.ID != first+int64(i) {
			t.Fatalf("created pet %d (%v), want %d", pet.ID, err, first+int64(i))
		}
	}
}

// flipMeta writes a copy of a file with one bit of a meta page flipped.
func flipMeta(t *testing.T, path string, file []byte, page, bit int) {
	t.Helper()
	b := append([]byte(nil), file...)
	b[page*pageSize+bit/8] ^= 1 << (bit % 8)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// metaBits returns the bits of a meta page that matter: those of the content,
// and of the header without the number of elements and the overflow.
func metaBits() (bits []int) {
	for bit := range (16 + 64) * 8 {
		if byte := bit / 8; byte < 10 || byte >= 16 {
			bits = append(bits, bit)
		}
	}
	return bits
}

// TestDamagedMeta flips each bit of each meta page of a file. A file that was
// closed has lost nothing. One that was not may have lost its last commit: it is
// refused until the older state is accepted.
func TestDamagedMeta(t *testing.T) {
	dir := t.TempDir()
	whole, path := filepath.Join(dir, "whole.db"), filepath.Join(dir, "pets.db")
	s := open(t, whole)
	createPets(t, s, 3, 1)
	crashed := mustRead(t, whole)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	closed := mustRead(t, whole)
	s = open(t, whole)
	createPets(t, s, 1, 4)
	first := mustRead(t, whole) // a crash after the first commit since the file was opened
	s.Close()

	for page := range 2 {
		for i, bit := range metaBits() {
			if i%29 != 0 && !*everyBit {
				continue
			}
			flipMeta(t, path, closed, page, bit)
			s, err := storage.Open(path, nil)
			if err != nil {
				t.Fatalf("closed, page %d, bit %d: %v", page, bit, err)
			}
			createPets(t, s, 1, 4)
			s.Close()
			for name, file := range map[string][]byte{"after 3 pets": crashed, "after pet 4": first} {
				flipMeta(t, path, file, page, bit)
				if s, err := storage.Open(path, nil); !errors.Is(err, storage.ErrUndecided) || !errors.Is(err, storage.ErrDamaged) {
					t.Fatalf("crashed %s, page %d, bit %d: %v, %v", name, page, bit, s, err)
				}
			}
		}
	}
}

// TestAcceptOlder damages each meta page of a file that was not closed. Without
// the newer one the last pet is lost, and without the older one nothing is.
func TestAcceptOlder(t *testing.T) {
	dir := t.TempDir()
	whole, path := filepath.Join(dir, "whole.db"), filepath.Join(dir, "pets.db")
	s := open(t, whole)
	createPets(t, s, 3, 1)
	crashed := mustRead(t, whole)
	lost := map[int64]bool{}
	for page := range 2 {
		flipMeta(t, path, crashed, page, 500)
		pet, message, err := storage.AcceptOlder(path, nil)
		if err != nil || message != 1 {
			t.Fatalf("AcceptOlder gave %d, %d, %v", pet, message, err)
		}
		lost[pet] = true
		s := open(t, path)
		createPets(t, s, 1, pet)
		s.Close()
	}
	if !lost[3] || !lost[4] {
		t.Errorf("the first free IDs are %v, want 3 for one page and 4 for the other", lost)
	}
}

// TestChangedWhileOpen damages a meta page of an open file, or copies a backup
// over the file. The store fails, at the next write or soon.
func TestChangedWhileOpen(t *testing.T) {
	for _, write := range []bool{false, true} {
		for _, kind := range []string{"newer meta page", "older meta page", "older copy"} {
			t.Run(fmt.Sprintf("%s, write %v", kind, write), func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "pets.db")
				s := open(t, path)
				createPets(t, s, 3, 1)
				old := mustRead(t, path)
				createPets(t, s, 4, 4)
				now := mustRead(t, path)
				newer := 0
				if txid(now, 1) > txid(now, 0) {
					newer = 1
				}
				switch kind {
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
				select {
				case <-s.Failed():
				case <-time.After(time.Minute):
					t.Fatal("the store has not failed")
				}
				if _, err := s.GetPet(t.Context(), 1); petstore.CodeOf(err) != petstore.CodeUnavailable {
					t.Errorf("GetPet returned %v", err)
				}
			})
		}
	}
}

// txid returns the transaction ID in a meta page.
func txid(file []byte, page int) uint64 {
	return binary.NativeEndian.Uint64(pageOf(file, page)[16+48:])
}
