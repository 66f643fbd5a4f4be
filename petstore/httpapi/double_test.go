package httpapi_test

import (
	"context"
	"sync"

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

// double is a store that calls do with an operation's last argument, and returns what
// it has: what was created or submitted if it has nothing else.
type double struct {
	do      func(ctx context.Context, arg any) error // nil: returns nil
	pet     petstore.Pet
	page    petstore.Page
	message petstore.Message
}

func (d double) call(ctx context.Context, arg any) error {
	if d.do == nil {
		return nil
	}
	return d.do(ctx, arg)
}

func (d double) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	return d.page, d.call(ctx, q)
}

func (d double) CreatePet(ctx context.Context, p petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
	if d.pet.ID == 0 {
		d.pet = petstore.Pet{ID: 1, NewPet: p}
	}
	return d.pet, d.call(ctx, key)
}

func (d double) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	return d.pet, d.call(ctx, id)
}

func (d double) SubmitMessage(ctx context.Context, text string, key petstore.IdempotencyKey) (petstore.Message, error) {
	if d.message.Text == "" {
		d.message.Text = text
	}
	return d.message, d.call(ctx, key)
}

// spoiled is a store that returns what cannot be encoded.
var spoiled = double{
	pet:     petstore.Pet{ID: 1, NewPet: petstore.NewPet{Name: "\xff"}},
	page:    petstore.Page{Pets: []petstore.Pet{{ID: 1, NewPet: petstore.NewPet{Status: "eaten"}}}, Next: "x"},
	message: petstore.Message{Text: "\xff"},
}
