package etcdstore_test

import (
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
	"example.com/animalstore/petstore/storage/storagetest"
)

func target(serializable bool) storagetest.Target {
	return storagetest.Target{
		Open: func(t *testing.T, dir string, o storagetest.Options) petstore.Service {
			return open(t, etcdstore.Config{
				Prefix:        dir + "/",
				Now:           o.Now,
				QueueCapacity: o.QueueCapacity,
				Serializable:  serializable,
			})
		},
		Strict:   true,
		OwnClock: true,
	}
}

func TestStore(t *testing.T) { storagetest.Run(t, target(false)) }

// With one member even serializable reads are never stale.
func TestSerializable(t *testing.T) { storagetest.Run(t, target(true)) }

func TestRandom(t *testing.T) {
	n := 100
	if testing.Short() {
		n = 20
	}
	storagetest.RunRandom(t, target(false), n, 1)
}
