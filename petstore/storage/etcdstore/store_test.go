package etcdstore_test

import (
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
	"example.com/animalstore/petstore/storage/storagetest"
)

var target = storagetest.Target{
	Open: func(t *testing.T, dir string, o storagetest.Options) petstore.Service {
		return open(t, etcdstore.Config{Prefix: dir + "/", Now: o.Now, QueueCapacity: o.QueueCapacity})
	},
	Strict:   true,
	OwnClock: true,
}

func TestStore(t *testing.T) { storagetest.Run(t, target) }

func TestRandom(t *testing.T) { storagetest.RunRandom(t, target, 100, 1) }
