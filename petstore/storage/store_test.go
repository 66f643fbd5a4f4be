package storage_test

import (
	"flag"
	"path/filepath"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/encoded"
	"example.com/animalstore/petstore/storage"
	"example.com/animalstore/petstore/storage/internal/randomtest"
	"example.com/animalstore/petstore/storage/storagetest"
)

var seed = flag.Uint64("seed", 1, "what random tests are made from")

func target(queueCapacity int) storagetest.Target {
	return storagetest.Target{
		Open: func(t *testing.T, dir string, o storagetest.Options) petstore.Service {
			t.Helper()
			s, err := storage.Open(filepath.Join(dir, "pets.db"), storage.WithClock(o.Now, queueCapacity))
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	storagetest.Run(t, target(0))
}

// A handler uses the encoded reads of a store, which are faster, but not those of a type
// that embeds it.
func TestEncoded(t *testing.T) {
	s := open(t, dbPath(t))
	if embedding := (struct{ *storage.Store }{s}); s.Encoded(s) == nil || encoded.Of(s) != s.Encoded(s) || s.Encoded(embedding) != nil {
		t.Error("the store has no encoded reads, or a type that embeds it has them")
	}
}

func TestRandom(t *testing.T) {
	t.Parallel()
	randomtest.Run(t, target(randomtest.QueueCapacity), 1500, *seed)
}
