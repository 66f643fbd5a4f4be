package testserver

import (
	"context"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/memory"
)

// Double is a store in memory whose operations a test can replace: ListPets calls
// DoListPets, and so on. What replaces an operation can call what it replaces:
//
//	create := d.DoCreatePet
//	d.DoCreatePet = func(ctx context.Context, p petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
//		p.Name = "Rex"
//		return create(ctx, p, key)
//	}
type Double struct {
	*memory.Store // has the state, and the other operations

	DoListPets       func(context.Context, petstore.ListQuery) (petstore.Page, error)
	DoCreatePet      func(context.Context, petstore.NewPet, petstore.IdempotencyKey) (petstore.Pet, error)
	DoGetPet         func(context.Context, int64) (petstore.Pet, error)
	DoSubmitMessage  func(context.Context, string, petstore.IdempotencyKey) (petstore.Message, error)
	DoRemoveMessages func(context.Context, ...string) error
	DoClose          func() error
}

// NewDouble returns an empty store, of which nothing is replaced. opts may be nil.
func NewDouble(opts *memory.Options) *Double {
	m := memory.New(opts)
	return &Double{m, m.ListPets, m.CreatePet, m.GetPet, m.SubmitMessage, m.RemoveMessages, m.Close}
}

// ListPets implements [petstore.Service].
func (d *Double) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	return d.DoListPets(ctx, q)
}

// CreatePet implements [petstore.Service].
func (d *Double) CreatePet(ctx context.Context, p petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
	return d.DoCreatePet(ctx, p, key)
}

// GetPet implements [petstore.Service].
func (d *Double) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	return d.DoGetPet(ctx, id)
}

// SubmitMessage implements [petstore.Messages].
func (d *Double) SubmitMessage(ctx context.Context, text string, key petstore.IdempotencyKey) (petstore.Message, error) {
	return d.DoSubmitMessage(ctx, text, key)
}

// RemoveMessages implements [petstore.Queue].
func (d *Double) RemoveMessages(ctx context.Context, ids ...string) error {
	return d.DoRemoveMessages(ctx, ids...)
}

// Close implements io.Closer.
func (d *Double) Close() error { return d.DoClose() }
