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

// fill adds n pets to s and to a store in memory, which it returns. Their
// statuses come in long runs and at random.
func fill(t *testing.T, s *etcdstore.Store, n int) *memory.Store {
	t.Helper()
	oracle := memory.New(nil)
	r := rand.New(rand.NewPCG(1, 2))
	statuses := append(petstore.Statuses(), "")
	var pets []petstore.Pet
	for status := statuses[0]; len(pets) < n; {
		if r.IntN(1+300*(len(pets)/700%2)) == 0 {
			status = statuses[r.IntN(len(statuses))]
		}
		pet, err := oracle.CreatePet(t.Context(), petstore.NewPet{Name: fmt.Sprint("pet ", len(pets)), Status: status}, petstore.Once{})
		if err != nil {
			t.Fatal(err)
		}
		pets = append(pets, pet)
	}
	if err := s.ImportPets(t.Context(), pets); err != nil {
		t.Fatal(err)
	}
	return oracle
}

// query returns a query for a list page after the pet with that ID.
func query(status petstore.Status, after int64, limit int) petstore.ListQuery {
	q := petstore.ListQuery{Status: status, Limit: limit}
	if after > 0 {
		q.After = petstore.CursorAfter(after)
	}
	return q
}

// List pages are right at every cursor, with a full cache and with an empty one.
func TestIndex(t *testing.T) {
	const n = 3000
	prefix := newPrefix(t)
	warm := open(t, etcdstore.Config{Prefix: prefix})
	oracle := fill(t, warm, n)
	compare := func(s *etcdstore.Store, q petstore.ListQuery) {
		t.Helper()
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
	for _, status := range append(petstore.Statuses(), "") {
		for after := int64(0); after <= n+1; after += 1 + rand.Int64N(20) {
			q := query(status, after, 1+rand.IntN(100))
			compare(warm, q)
			if rand.IntN(50) == 0 {
				cold := open(t, etcdstore.Config{Prefix: prefix})
				compare(cold, q)
				cold.Close()
			}
		}
	}
	for _, after := range []int64{1, 127, 128, 129, 256, n - 1, n, n + 1, 1<<53 - 1, 1<<63 - 1} {
		for _, status := range append(petstore.Statuses(), "") {
			cold := open(t, etcdstore.Config{Prefix: prefix})
			compare(cold, query(status, after, 100))
			cold.Close()
		}
	}
}

// A process lists a pet that another process has just created, even if it has
// cached an older index.
func TestIndexOfAnotherProcess(t *testing.T) {
	prefix := newPrefix(t)
	reader, writer := open(t, etcdstore.Config{Prefix: prefix}), open(t, etcdstore.Config{Prefix: prefix})
	for i := range 400 {
		pet, err := writer.CreatePet(t.Context(), petstore.NewPet{Status: petstore.StatusSold}, petstore.Once{})
		if err != nil {
			t.Fatal(err)
		}
		page, err := reader.ListPets(t.Context(), query(petstore.StatusSold, int64(i), 20))
		if err != nil {
			t.Fatal(err)
		}
		if want := []petstore.Pet{pet}; !cmp.Equal(want, page.Pets) || page.Next != "" {
			t.Fatalf("the page after %d is %+v", i, page)
		}
	}
}

// Imported pets must follow the last pet, and new messages follow imported ones.
func TestImport(t *testing.T) {
	s := open(t, etcdstore.Config{Prefix: newPrefix(t)})
	pet := func(id int64) petstore.Pet { return petstore.Pet{ID: id} }
	if err := s.ImportPets(t.Context(), []petstore.Pet{pet(1), pet(2)}); err != nil {
		t.Fatal(err)
	}
	for _, pets := range [][]petstore.Pet{{pet(2)}, {pet(4)}, {pet(3), pet(5)}} {
		if err := s.ImportPets(t.Context(), pets); petstore.CodeOf(err) != petstore.CodeConflict {
			t.Errorf("importing %v: %v", pets, err)
		}
	}
	if stats, err := s.Stats(t.Context()); err != nil || stats.Pets != 3 { // the third has followed
		t.Errorf("%+v, %v", stats, err)
	}
	m := petstore.Message{ID: "msg_7", Text: "old", Status: petstore.MessageQueued}
	if err := s.ImportMessages(t.Context(), []petstore.Message{m}, 9); err != nil {
		t.Fatal(err)
	}
	if next, err := s.SubmitMessage(t.Context(), "new", petstore.Once{}); err != nil || next.ID != "msg_10" {
		t.Errorf("%+v, %v", next, err)
	}
}
