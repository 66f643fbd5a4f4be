package httpapi_test

import (
	"context"
	"sync"

	"example.com/animalstore/internal/test/testserver"
	"example.com/animalstore/petstore"
)

// recorder collects values from the goroutines of handlers.
type recorder[T any] struct {
	mu   sync.Mutex
	seen []T
}

func (r *recorder[T]) add(v T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, v)
}

// take returns what was added since the last call.
func (r *recorder[T]) take() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := r.seen
	r.seen = nil
	return seen
}

// stub returns a store that keeps nothing. Each operation of the contract calls do with its
// last argument, and returns the error; a nil do returns none. CreatePet and SubmitMessage return what they
// were called with.
func stub(do func(ctx context.Context, arg any) error) *testserver.Double {
	if do == nil {
		do = func(context.Context, any) error { return nil }
	}
	d := testserver.NewDouble(nil)
	d.DoListPets = func(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
		return petstore.Page{}, do(ctx, q)
	}
	d.DoCreatePet = func(ctx context.Context, p petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
		return petstore.Pet{ID: 1, NewPet: p}, do(ctx, key)
	}
	d.DoGetPet = func(ctx context.Context, id int64) (petstore.Pet, error) {
		return petstore.Pet{}, do(ctx, id)
	}
	d.DoSubmitMessage = func(ctx context.Context, text string, key petstore.IdempotencyKey) (petstore.Message, error) {
		return petstore.Message{Text: text}, do(ctx, key)
	}
	return d
}

// spoiled returns a store whose results cannot be encoded.
func spoiled() *testserver.Double {
	d := testserver.NewDouble(nil)
	pet := petstore.Pet{ID: 1, NewPet: petstore.NewPet{Name: "\xff"}}
	d.DoListPets = func(context.Context, petstore.ListQuery) (petstore.Page, error) {
		return petstore.Page{Pets: []petstore.Pet{{ID: 1, NewPet: petstore.NewPet{Status: "eaten"}}}, Next: "x"}, nil
	}
	d.DoCreatePet = func(context.Context, petstore.NewPet, petstore.IdempotencyKey) (petstore.Pet, error) {
		return pet, nil
	}
	d.DoGetPet = func(context.Context, int64) (petstore.Pet, error) { return pet, nil }
	d.DoSubmitMessage = func(context.Context, string, petstore.IdempotencyKey) (petstore.Message, error) {
		return petstore.Message{Text: "\xff"}, nil
	}
	return d
}
