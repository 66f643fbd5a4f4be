package petstoretest

import (
	"context"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/memory"
)

// store is a store in memory. If it is difficult, it shows IDs of up to 19 digits.
type store struct {
	*memory.Store
	difficult bool
}

func (s store) CreatePet(ctx context.Context, p petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
	pet, err := s.Store.CreatePet(ctx, p, key)
	pet.ID = s.shown(pet.ID)
	return pet, err
}

func (s store) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	stored := id
	if s.difficult {
		stored *= unspread
	}
	pet, err := s.Store.GetPet(ctx, stored)
	if err == nil {
		pet.ID = id
	}
	return pet, err
}

func (s store) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	page, err := s.Store.ListPets(ctx, q)
	for i := range page.Pets {
		page.Pets[i].ID = s.shown(page.Pets[i].ID)
	}
	return page, err
}

// Multiplication by spread, modulo 2^64, gives each ID another one. unspread is the inverse of
// spread.
const (
	spread   = -0x61C8864680B583EB
	unspread = -0x0E217C1E66C88CC3
)

func (s store) shown(id int64) int64 {
	if s.difficult {
		id *= spread
	}
	return id
}
