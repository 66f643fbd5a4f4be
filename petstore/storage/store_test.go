package storage_test

import (
	"flag"
	"path/filepath"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
	"example.com/animalstore/petstore/storage/storagetest"
)

var (
	sequences = flag.Int("sequences", 150, "how many random sequences of operations to compare with the store in memory")
	seed      = flag.Uint64("seed", 1, "what the random sequences are made from")
)

var target = storagetest.Target{
	Open: func(t *testing.T, dir string, o storagetest.Options) petstore.Service {
		t.Helper()
		s, err := storage.Open(filepath.Join(dir, "pets.db"), &storage.Options{Now: o.Now, QueueCapacity: o.QueueCapacity})
		if err != nil {
			t.Fatal(err)
		}
		return s
	},
	Strict: true,
}

func TestStore(t *testing.T) {
	t.Parallel()
	storagetest.Run(t, target)
}

func TestRandom(t *testing.T) {
	t.Parallel()
	storagetest.RunRandom(t, target, *sequences, *seed)
}
