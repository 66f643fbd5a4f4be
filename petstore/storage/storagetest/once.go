package storagetest

import (
	"fmt"
	"testing"
	"time"

	"example.com/animalstore/internal/members"
	"example.com/animalstore/petstore"
)

func testOnce(t *testing.T, f *fixture) {
	rex := members.Filled[petstore.NewPet]()
	once := petstore.Once{Scope: "anna", Key: "key"}
	first := f.createOnce(t, rex, once)
	repeat := func() {
		t.Helper()
		f.clock.advance(time.Minute)
		wantEqual(t, "CreatePet again", first, f.createOnce(t, rex, once))
	}
	repeat()
	for name, p := range members.Without(rex) {
		_, err := f.CreatePet(t.Context(), p, once)
		wantCode(t, "CreatePet with the same key and another "+name, err, petstore.CodeMismatch)
	}
	for _, other := range []petstore.Once{
		{},
		{},
		{Scope: "anna"},
		{Scope: "bert", Key: "key"},
		{Scope: "anna", Key: "KEY"},
		{Scope: "annak", Key: "ey"},
		{Key: "key"},
	} {
		if pet := f.createOnce(t, rex, other); pet.ID == first.ID {
			t.Fatalf("CreatePet with %+v returned %v again, want a new pet", other, pet)
		}
	}
	f.wantPets(t, 8)
	f.reopen(t)
	repeat()
	f.wantPets(t, 8)
}

// concurrently returns the results of 16 concurrent calls.
func concurrently[T any](t *testing.T, what string, call func() (T, error)) []T {
	t.Helper()
	const callers = 16
	type result struct {
		value T
		err   error
	}
	results := make(chan result, callers)
	for range callers {
		go func() {
			value, err := call()
			results <- result{value, err}
		}()
	}
	var values []T
	for range callers {
		r := <-results
		if r.err != nil {
			t.Fatalf("%s: %v", what, r.err)
		}
		values = append(values, r.value)
	}
	return values
}

func testOnceConcurrent(t *testing.T, f *fixture) {
	for round := range 5 {
		once := petstore.Once{Scope: "s", Key: fmt.Sprint("round ", round)}
		pets := concurrently(t, "CreatePet", func() (petstore.Pet, error) {
			return f.CreatePet(t.Context(), petstore.NewPet{Name: once.Key}, once)
		})
		for _, pet := range pets {
			wantEqual(t, "CreatePet of the same pet at the same time", pets[0], pet)
		}
		f.wantPets(t, round+1)
	}
}

func testOnceExpires(t *testing.T, f *fixture) {
	const n = 20
	create := func(i int) int64 {
		t.Helper()
		return f.createOnce(t, petstore.NewPet{CategoryID: int64(i)}, petstore.Once{Key: fmt.Sprint(i)}).ID
	}
	ids := map[int]int64{}
	for i := range n {
		ids[i] = create(i)
		f.clock.advance(time.Second)
	}
	f.clock.advance(petstore.OnceKept - n*time.Second) // the age of the first, to the nanosecond
	for i := range n {
		if got := create(i); got != ids[i] {
			t.Fatalf("CreatePet again within %v returned the pet %d, want %d", petstore.OnceKept, got, ids[i])
		}
	}
	if !f.target.Strict {
		return
	}
	f.clock.advance(n * time.Second)
	for i := range n {
		if got := create(i); got <= n {
			t.Fatalf("CreatePet after more than %v returned the pet %d again", petstore.OnceKept, got)
		} else if create(i) != got {
			t.Fatal("CreatePet returned two new pets for one key")
		}
	}
	f.wantPets(t, 2*n)
}
