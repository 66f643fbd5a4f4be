package storage_test

import (
	"flag"
	"fmt"
	"path/filepath"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/petjson"
	"example.com/animalstore/petstore/storage"
	"example.com/animalstore/petstore/storage/storagetest"
)

var seed = flag.Uint64("seed", 1, "what random tests are made from")

func TestStore(t *testing.T) {
	t.Parallel()
	storagetest.Run(t, storagetest.Target{
		Open: func(t *testing.T, dir string, o storagetest.Options) petstore.Service {
			t.Helper()
			s, err := storage.Open(filepath.Join(dir, "pets.db"), &storage.Options{QueueCapacity: o.QueueCapacity})
			if err != nil {
				t.Fatal(err)
			}
			s.NoSync()
			return s
		},
	})
}

// TestJSONReader: a handler uses the reader of a store, but not for a type that embeds it.
func TestJSONReader(t *testing.T) {
	s := open(t, dbPath(t))
	name := func(service petstore.Service) string { return fmt.Sprintf("%T", petjson.ReaderOf(service)) }
	if of, embedding := name(s), name(struct{ *storage.Store }{s}); of != "storage.reader" || embedding != "petjson.encoder" {
		t.Errorf("the store is read by %s, and a type that embeds it by %s", of, embedding)
	}
}
