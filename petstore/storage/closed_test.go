package storage_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
	"example.com/animalstore/petstore/storage/internal/boltfile"
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
	b := bytes.Clone(file)
	b[page*pageSize+bit/8] ^= 1 << (bit % 8)
	writeFile(t, path, b)
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
	t.Parallel()
	dir := t.TempDir()
	whole, path := filepath.Join(dir, "whole.db"), filepath.Join(dir, "pets.db")
	s := open(t, whole)
	createPets(t, s, 3, 1)
	crashed := process.ReadFile(t, whole)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	closed := process.ReadFile(t, whole)
	s = open(t, whole)
	createPets(t, s, 1, 4)
	first := process.ReadFile(t, whole) // a crash after the first commit since the file was opened
	s.Close()

	for page := range 2 {
		for i, bit := range metaBits() {
			if i%59 != 0 && !*everyBit {
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
	crashed := process.ReadFile(t, whole)
	lost := map[int64]bool{}
	for page := range 2 {
		flipMeta(t, path, crashed, page, 500)
		pet, message, err := storage.AcceptOlder(path, nil)
		if err != nil || message != 1 {
			t.Fatalf("AcceptOlder returned %d, %d, %v", pet, message, err)
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

// TestReadMeta flips a bit in each byte of the headers of both meta pages that
// matters. The page that is verified must be the one that bbolt uses.
func TestReadMeta(t *testing.T) {
	dir := t.TempDir()
	whole, path := filepath.Join(dir, "whole.db"), filepath.Join(dir, "pets.db")
	makeStore(t, whole)
	file := process.ReadFile(t, whole)
	for i := range 2 * 10 {
		flipMeta(t, path, file, i%2, i/2*8)
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := boltfile.ReadMeta(f)
		f.Close()
		edit(t, path, func(tx *bbolt.Tx) error {
			if want := uint64(tx.ID()) - 1; err != nil || got.TxID != want || got.Spare == nil {
				t.Errorf("byte %d of page %d: %+v, %v, want the transaction %d", i/2, i%2, got, err, want)
			}
			return nil
		})
	}
}
