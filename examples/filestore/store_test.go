package filestore

import (
	"path/filepath"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/storagetest"
)

func TestStore(t *testing.T) {
	storagetest.Run(t, storagetest.Target{
		Open: func(t *testing.T, dir string, _ storagetest.Options) petstore.Service {
			s, err := Open(filepath.Join(dir, "pets.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	})
}
