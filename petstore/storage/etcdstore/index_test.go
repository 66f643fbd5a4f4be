package etcdstore_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
	"example.com/animalstore/petstore/storage/memory"
)

var statuses = append(petstore.Statuses(), "")

// fill adds n pets to s and to a store in memory, each with one of the statuses.
func fill(t *testing.T, s *etcdstore.Store, oracle *memory.Store, n int, statuses ...petstore.Status) {
	t.Helper()
	var pets []petstore.Pet
	for range n {
		p := petstore.NewPet{Name: fmt.Sprint("pet ", rand.Int()), Status: statuses[rand.IntN(len(statuses))]}
		pet, err := oracle.CreatePet(t.Context(), p, petstore.Once{})
		if err != nil {
			t.Fatal(err)
		}
		pets = append(pets, pet)
	}
	if err := s.ImportPets(t.Context(), pets); err != nil {
		t.Fatal(err)
	}
}

// query returns a query for a list page after the pet with that ID.
func query(status petstore.Status, after int64, limit int) petstore.ListQuery {
	q := petstore.ListQuery{Status: status, Limit: limit}
	if after > 0 {
		q.After = petstore.CursorAfter(after)
	}
	return q
}

// List pages are right at every cursor, with a full cache and with an empty one,
// as soon as another process has added the pets.
func TestIndex(t *testing.T) {
	prefix, oracle := newPrefix(t), memory.New(nil)
	warm, writer := open(t, etcdstore.Config{Prefix: prefix}), open(t, etcdstore.Config{Prefix: prefix})
	compare := func(s *etcdstore.Store, status petstore.Status, after int64, limit int) {
		t.Helper()
		q := query(status, after, limit)
		want, err := oracle.ListPets(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.ListPets(t.Context(), q)
		if err != nil {
			t.Fatalf("ListPets(%+v): %v", q, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("ListPets(%+v) (-want +got):\n%s", q, diff)
		}
	}
	n := int64(0)
	for round := 0; n < 3000; round++ {
		added := 1 + rand.Int64N(400)
		if round%2 == 0 {
			fill(t, writer, oracle, int(added), statuses...)
		} else {
			fill(t, writer, oracle, int(added), statuses[rand.IntN(len(statuses))])
		}
		compare(warm, statuses[rand.IntN(len(statuses))], max(0, n-50), 100)
		for _, status := range statuses {
			compare(warm, status, n, 100)
			for range 10 {
				compare(warm, status, rand.Int64N(n+added+2), 1+rand.IntN(100))
			}
		}
		n += added
	}
	for _, after := range []int64{0, 1, 127, 128, 129, 256, n / 2, n - 1, n, n + 1, 1<<53 - 1, 1<<63 - 1} {
		cold := open(t, etcdstore.Config{Prefix: prefix})
		for _, status := range statuses {
			compare(cold, status, after, 100)
		}
		cold.Close()
	}
}

// Imported pets must follow the last pet.
func TestImport(t *testing.T) {
	s := open(t, etcdstore.Config{Prefix: newPrefix(t)})
	fill(t, s, memory.New(nil), 2, "")
	for _, pets := range [][]petstore.Pet{{{ID: 2}}, {{ID: 4}}, {{ID: 3}, {ID: 5}}} {
		if err := s.ImportPets(t.Context(), pets); petstore.CodeOf(err) != petstore.CodeConflict {
			t.Errorf("importing %v: %v", pets, err)
		}
	}
	if stats, err := s.Stats(t.Context()); err != nil || stats.Pets != 3 { // the third has followed
		t.Errorf("%+v, %v", stats, err)
	}
}
