package storage_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"path/filepath"
	"testing"

	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/encoded"
	"example.com/animalstore/petstore/storage"
	"example.com/animalstore/petstore/storage/storagetest"
)

var seed = flag.Uint64("seed", 1, "what random tests are made from")

func TestStore(t *testing.T) {
	t.Parallel()
	storagetest.Run(t, storagetest.Target{
		Open: func(t *testing.T, dir string, o storagetest.Options) petstore.Service {
			t.Helper()
			s, err := storage.Open(filepath.Join(dir, "pets.db"), storage.WithClock(o.Now, o.QueueCapacity))
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	})
}

// A handler uses the encoded reads of a store, which are faster, but not those of a type
// that embeds it.
func TestEncoded(t *testing.T) {
	s := open(t, dbPath(t))
	name := func(service petstore.Service) string { return fmt.Sprintf("%T", encoded.Of(service)) }
	if of, embedding := name(s), name(struct{ *storage.Store }{s}); of != "storage.reader" || embedding != "encoded.encoder" {
		t.Errorf("the store is read by %s, and a type that embeds it by %s", of, embedding)
	}
}

// TestFreeBytes: the free pages of a file are counted while changes are made.
func TestFreeBytes(t *testing.T) {
	path := dbPath(t)
	writeFile(t, path, small(t).file)
	s := open(t, path)
	done := make(chan bool)
	go func() {
		defer close(done)
		inParallel(t, 0, 500, func(int) error {
			_, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.IdempotencyKey{})
			return err
		})
	}()
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		default:
		}
		if n, err := s.FreeBytes(); err == nil && (n < pageSize || n > 1<<20 || n%pageSize != 0) {
			t.Fatalf("%d bytes are free", n)
		}
	}
	n, err := s.FreeBytes()
	if err != nil || s.Damage() != nil {
		t.Fatal(err, s.Damage())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	file := process.ReadFile(t, path)
	if want := pageSize * int(binary.NativeEndian.Uint16(pageOf(file, pagesOf(file, freelistPage)[0])[10:])); n != int64(want) {
		t.Errorf("%d bytes are free, want %d", n, want)
	}
}
