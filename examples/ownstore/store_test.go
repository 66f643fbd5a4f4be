package ownstore

import (
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/storagetest"
)

func TestStore(t *testing.T) {
	storagetest.Run(t, storagetest.Target{
		Volatile: true,
		Open:     func(*testing.T, string, storagetest.Options) petstore.Service { return New() },
	})
}
