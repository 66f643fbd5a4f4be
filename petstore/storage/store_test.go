package storage_test

import (
	"flag"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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

// Every change is in a commit that is reported before the caller has its result.
// A handler uses the encoded reads of a store, which are faster.
func TestEncodes(t *testing.T) {
	s := open(t, dbPath(t))
	if !s.Encodes(s) {
		t.Error("Encodes returns false for the store")
	}
}

func TestCommitted(t *testing.T) {
	t.Parallel()
	var changes, commits atomic.Int64
	s, err := storage.Open(dbPath(t), &storage.Options{Committed: func(n int, sync time.Duration) {
		if n < 1 || sync <= 0 {
			t.Errorf("a commit of %d changes took %v", n, sync)
		}
		changes.Add(int64(n))
		commits.Add(1)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const callers, each = 8, 20
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range each {
				before := changes.Load()
				if _, err := s.SubmitMessage(t.Context(), "feed the cat", petstore.Once{}); err != nil || changes.Load() == before {
					t.Errorf("no commit after a change, %v", err)
				}
			}
		})
	}
	wg.Wait()
	if changes.Load() != callers*each || commits.Load() > callers*each {
		t.Errorf("%d commits with %d changes, want %d changes", commits.Load(), changes.Load(), callers*each)
	}
}

func TestRandom(t *testing.T) {
	t.Parallel()
	storagetest.RunRandom(t, target, 1500, *seed)
}
