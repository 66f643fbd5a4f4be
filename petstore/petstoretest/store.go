package petstoretest

import (
	"context"
	"slices"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/memory"
)

// difficult is a store whose IDs have up to 19 digits, and whose pages are in another order.
type difficult struct{ *memory.Store }

func (s difficult) CreatePet(ctx context.Context, p petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
	pet, err := s.Store.CreatePet(ctx, p, key)
	pet.ID = shown(pet.ID)
	return pet, err
}

func (s difficult) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	pet, err := s.Store.GetPet(ctx, id*unspread)
	pet.ID = shown(pet.ID)
	return pet, err
}

func (s difficult) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	page, err := s.Store.ListPets(ctx, q)
	for i := range page.Pets {
		page.Pets[i].ID = shown(page.Pets[i].ID)
	}
	slices.Reverse(page.Pets)
	return page, err
}

// Multiplication by spread, modulo 2^64, gives each ID another one. unspread is the inverse of
// spread.
const (
	spread   = -0x61C8864680B583EB
	unspread = -0x0E217C1E66C88CC3
)

func shown(id int64) int64 { return id * spread }
