package storagetest

import (
	"fmt"
	"testing"
	"time"

	"example.com/animalstore/internal/members"
	"example.com/animalstore/petstore"
)

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

// same returns the result of concurrent calls, which must return the same.
func same[T any](t *testing.T, what string, call func() (T, error)) T {
	t.Helper()
	results := concurrently(t, what, call)
	for _, r := range results {
		wantEqual(t, what+" at the same time", results[0], r)
	}
	return results[0]
}

func testOnce(t *testing.T, f *fixture) {
	rex := members.Filled[petstore.NewPet]()
	once := petstore.Once{Scope: "anna", Key: "key"}
	create := func() (petstore.Pet, error) { return f.CreatePet(t.Context(), rex, once) }
	first := same(t, "CreatePet", create)
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
	wantEqual(t, "CreatePet again", first, same(t, "CreatePet", create))
	f.wantPets(t, 8)
}

func testOnceExpires(t *testing.T, f *fixture) {
	create := func(i int) int64 {
		t.Helper()
		return f.createOnce(t, petstore.NewPet{CategoryID: int64(i)}, petstore.Once{Key: fmt.Sprint(i)}).ID
	}
	const part = 10
	var ids []int64
	for i := range 3 * part {
		ids = append(ids, create(i))
		f.advance(petstore.OnceKept / part)
		for j := max(0, len(ids)-part); j <= i; j++ { // the oldest to the nanosecond
			if got := create(j); got != ids[j] {
				t.Fatalf("CreatePet again within %v returned the pet %d, want %d", petstore.OnceKept, got, ids[j])
			}
		}
	}
}

func testMessagesOnce(t *testing.T, f *fixture) {
	if f.Queue == nil {
		t.Skip("the store is not a petstore.Messages and petstore.Queue")
	}
	once := petstore.Once{Scope: "anna", Key: "key"}
	f.createOnce(t, petstore.NewPet{}, once) // a key is for a pet and for a message
	submit := func() (petstore.Message, error) { return f.SubmitMessage(t.Context(), "hello", once) }
	first := same(t, "SubmitMessage", submit)
	again := func() {
		t.Helper()
		f.advance(time.Minute)
		wantEqual(t, "SubmitMessage again", first, same(t, "SubmitMessage", submit))
	}
	again()
	_, err := f.SubmitMessage(t.Context(), "hello ", once)
	wantCode(t, "SubmitMessage of another message with the same key", err, petstore.CodeMismatch)
	f.wantPets(t, 1)
	f.wantQueue(t, []petstore.Message{first})
	f.remove(t, first.ID)
	again()
	f.reopen(t)
	again()
	f.wantQueue(t, nil)
}
