package memory_test

import (
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/memory"
	"example.com/animalstore/petstore/storage/storagetest"
)

func TestStore(t *testing.T) {
	storagetest.Run(t, storagetest.Target{
		Volatile: true,
		Open: func(_ *testing.T, _ string, o storagetest.Options) petstore.Service {
			return memory.New(&memory.Options{QueueCapacity: o.QueueCapacity})
		},
	})
}
