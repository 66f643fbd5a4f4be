package storage_test

import (
	"flag"
	"path/filepath"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
	"example.com/animalstore/petstore/storage/storagetest"
)

var seed = flag.Uint64("seed", 1, "what random tests are made from")

var target = storagetest.Target{
	Open: func(t *testing.T, dir string, o storagetest.Options) petstore.Service {
		t.Helper()
		s, err := storage.Open(filepath.Join(dir, "pets.db"), &storage.Options{Now: o.Now, QueueCapacity: o.QueueCapacity})
		if err != nil {
			t.Fatal(err)
		}
		return s
	},
}

func TestStore(t *testing.T) {
	t.Parallel()
	storagetest.Run(t, target)
}

// A handler uses the encoded reads of a store, which are faster.
func TestEncodes(t *testing.T) {
	s := open(t, dbPath(t))
	if !s.Encodes(s) {
		t.Error("Encodes returns false for the store")
	}
}

func TestRandom(t *testing.T) {
	t.Parallel()
	storagetest.RunRandom(t, target, 1500, *seed)
}
