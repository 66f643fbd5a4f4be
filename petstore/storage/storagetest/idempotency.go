package storagetest

import (
	"fmt"
	"reflect"
	"testing"
	"time"

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
		wantEqual(t, "two concurrent calls of "+what, results[0], r)
	}
	return results[0]
}

func testIdempotency(t *testing.T, f *fixture) {
	rex := SamplePet().NewPet
	key := petstore.IdempotencyKey{Scope: "anna", Key: "key"}
	create := func() (petstore.Pet, error) { return f.CreatePet(t.Context(), rex, key) }
	first := same(t, "CreatePet", create)
	pets := []petstore.Pet{first}
	for field := range reflect.TypeFor[petstore.NewPet]().Fields() {
		other := rex
		value := reflect.ValueOf(&other).Elem().FieldByIndex(field.Index)
		what := fmt.Sprintf("CreatePet, repeated with its key but no %s instead of %#v,", field.Name, value.Interface())
		value.SetZero()
		_, err := f.CreatePet(t.Context(), other, key)
		wantCode(t, what, err, petstore.CodeIdempotencyMismatch)
	}
	for _, other := range []petstore.IdempotencyKey{
		{},
		{},
		{Scope: "anna"},
		{Scope: "bert", Key: "key"},
		{Scope: "anna", Key: "KEY"},
		{Scope: "annak", Key: "ey"},
		{Key: "key"},
	} {
		pet := f.create(t, rex, other)
		if pet.ID == first.ID {
			t.Fatalf("CreatePet with %+v returned the pet of the key %+v, want a new pet", other, key)
		}
		pets = append(pets, pet)
	}
	f.reopen(t)
	wantEqual(t, "CreatePet, repeated with its key", first, same(t, "CreatePet", create))
	f.wantPets(t, 0, pets)
}

func testIdempotencyWindow(t *testing.T, f *fixture) {
	create := func(i int) int64 {
		t.Helper()
		return f.create(t, petstore.NewPet{CategoryID: int64(i)}, petstore.IdempotencyKey{Key: fmt.Sprint(i)}).ID
	}
	const part = 10
	var ids []int64
	for i := range 3 * part {
		ids = append(ids, create(i))
		time.Sleep(petstore.IdempotencyWindow / part)
		for j := max(0, len(ids)-part); j <= i; j++ { // the oldest is exactly IdempotencyWindow old
			if got := create(j); got != ids[j] {
				t.Fatalf("CreatePet, repeated with its key within %v, returned the pet %d, want %d", petstore.IdempotencyWindow, got, ids[j])
			}
		}
	}
	// Later a store may forget a key. Once it is used again, the store remembers it again.
	time.Sleep(3 * petstore.IdempotencyWindow)
	for i := len(ids) - 1; i >= 0; i-- {
		if first, again := create(i), create(i); first != again {
			t.Fatalf("CreatePet with a key that was used long ago returned the pet %d, and when repeated the pet %d", first, again)
		}
	}
}
