package benchmark

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// smallPets is how many pets every store has but the large one.
const smallPets = 1_000

// created is the pet that creates are measured with.
var created = petstore.NewPet{Name: "pet 00000000", CategoryID: 4, Status: petstore.StatusSold}

// newFile creates a file with n pets, logs how long that took, and returns its
// path.
func newFile(b *testing.B, n int64) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "pets.db")
	start := time.Now()
	s, err := storage.Open(path, nil)
	if err != nil {
		b.Fatal(err)
	}
	_, err = s.Load(b.Context(), newPets(n))
	if err := errors.Join(err, s.Close()); err != nil {
		b.Fatal(err)
	}
	took := time.Since(start)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("storage.Load of %d pets: %.4g s, %.4g MB", n, took.Seconds(), float64(info.Size())/1e6)
	return path
}

// newPets returns n pets with names of 12 bytes. The statuses, and none, are
// equally frequent.
func newPets(n int64) iter.Seq[petstore.NewPet] {
	statuses := append(petstore.Statuses(), "")
	return func(yield func(petstore.NewPet) bool) {
		for i := range n {
			if !yield(petstore.NewPet{Name: fmt.Sprintf("pet %08d", i), CategoryID: i % 100, Status: statuses[i%4]}) {
				return
			}
		}
	}
}

// query is a place in a store.
type query struct {
	id    int64
	after petstore.Cursor
}

// randomQueries returns so many queries for n pets that the pages of a large
// file do not stay in the processor's caches.
func randomQueries(n int64) []query {
	queries := make([]query, 1<<16)
	for i := range queries {
		id := 1 + rand.Int64N(n)
		queries[i] = query{id, petstore.CursorAfter(id)}
	}
	return queries
}
