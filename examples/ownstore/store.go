// Package ownstore is the least that a store of your own must do: it is a
// petstore.Service to pass to httpapi.New. Put your database where the slice and
// the map are.
package ownstore

import (
	"context"
	"sync"

	"example.com/animalstore/petstore"
)

// Store keeps pets in memory.
type Store struct {
	mu   sync.Mutex
	pets []petstore.Pet                    // the pet with ID n is at n-1
	made map[petstore.IdempotencyKey]int64 // the ID of the pet that was created with a key
}

func New() *Store { return &Store{made: map[petstore.IdempotencyKey]int64{}} }

func (s *Store) CreatePet(ctx context.Context, p petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
	if err := p.Validate(); err != nil {
		return petstore.Pet{}, err
	}
	s.mu.Lock() // in a database: a transaction, in which IDs ascend in the order of commit
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return petstore.Pet{}, err
	}
	if id := s.made[key]; id != 0 { // a repeated creation
		if pet := s.pets[id-1]; pet.NewPet == p {
			return pet, nil
		}
		return petstore.Pet{}, petstore.ErrIdempotencyMismatch
	}
	pet := petstore.Pet{ID: int64(len(s.pets)) + 1, NewPet: p}
	s.pets = append(s.pets, pet)
	if key.Key != "" {
		s.made[key] = pet.ID
	}
	return pet, nil
}

func (s *Store) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id < 1 || id > int64(len(s.pets)) {
		return petstore.Pet{}, petstore.ErrNotFound
	}
	return s.pets[id-1], ctx.Err()
}

func (s *Store) ListPets(ctx context.Context, q petstore.ListQuery) (page petstore.Page, err error) {
	if q, err = q.Normalize(); err != nil {
		return page, err
	}
	after, err := q.After.ID()
	if err != nil {
		return page, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var json []byte
	for _, pet := range s.pets[min(after, int64(len(s.pets))):] {
		if q.Status != "" && pet.Status != q.Status {
			continue
		}
		if len(page.Pets) == q.Limit || len(json) >= petstore.MaxPageBytes { // there is another page
			page.Next = petstore.CursorAfter(page.Pets[len(page.Pets)-1].ID)
			break
		}
		page.Pets = append(page.Pets, pet)
		json, _ = pet.AppendJSON(json) // only its length counts
	}
	return page, ctx.Err()
}
