package petstoretest

import (
	"context"
	"math/rand/v2"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/memory"
)

// store is a store in memory with the difficulties ids and list-order.
type store struct {
	*memory.Store
	handler *Handler
}

// CreatePet implements [petstore.Service].
func (s store) CreatePet(ctx context.Context, p petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
	pet, err := s.Store.CreatePet(ctx, p, key)
	if err == nil {
		s.show(&pet)
	}
	return pet, err
}

// GetPet implements [petstore.Service].
func (s store) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	if s.handler.has("ids") {
		id = storedID(id)
	}
	pet, err := s.Store.GetPet(ctx, id)
	if err == nil {
		s.show(&pet)
	}
	return pet, err
}

// ListPets implements [petstore.Service].
func (s store) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	page, err := s.Store.ListPets(ctx, q)
	pets := page.Pets
	if len(pets) > 1 && s.handler.has("list-order") {
		// The same page has the same order each time.
		random := rand.New(rand.NewPCG(s.handler.difficult.Seed, uint64(pets[0].ID)))
		random.Shuffle(len(pets), func(i, j int) { pets[i], pets[j] = pets[j], pets[i] })
		s.handler.met("list-order")
	}
	for i := range pets {
		s.show(&pets[i])
	}
	return page, err
}

// show changes the ID of a pet to the one that clients see.
func (s store) show(pet *petstore.Pet) {
	if s.handler.has("ids") {
		pet.ID = shownID(pet.ID)
		s.handler.met("ids")
	}
}

// Multiplication by spread, modulo 2^64, gives each ID another one. unspread is the inverse of
// spread.
const (
	spread   = 0x9E3779B97F4A7C15
	unspread = 0xF1DE83E19937733D
)

func shownID(stored int64) int64 { return int64(uint64(stored) * spread) }
func storedID(shown int64) int64 { return int64(uint64(shown) * unspread) }
