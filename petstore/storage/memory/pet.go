package memory

import (
	"context"
	"time"

	"example.com/animalstore/petstore"
)

// ListPets implements petstore.Service.
func (s *Store) ListPets(ctx context.Context, q petstore.ListQuery) (page petstore.Page, err error) {
	if q, err = q.Normalize(); err != nil {
		return page, err
	}
	after, err := q.After.ID()
	if err != nil {
		return page, err
	}

	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return page, err
	}
	var json []byte
	for _, p := range s.pets[min(after, int64(len(s.pets))):] {
		if q.Status != "" && p.Status != q.Status {
			continue
		}
		if len(page.Pets) == q.Limit || len(json) >= petstore.MaxPageBytes {
			page.Next = petstore.CursorAfter(page.Pets[len(page.Pets)-1].ID)
			break
		}
		page.Pets = append(page.Pets, p)
		json, _ = p.AppendJSON(json) // only its length counts
	}
	return page, nil
}

// CreatePet implements petstore.Service.
func (s *Store) CreatePet(ctx context.Context, p petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
	if err := p.Validate(); err != nil {
		return petstore.Pet{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return petstore.Pet{}, err
	}
	now := time.Now()
	if pet, ok := s.created.find(key, now); ok {
		if pet.NewPet != p {
			return petstore.Pet{}, petstore.ErrIdempotencyMismatch
		}
		return pet, nil
	}
	pet := petstore.Pet{ID: int64(len(s.pets)) + 1, NewPet: p}
	s.pets = append(s.pets, pet)
	s.created.add(key, pet, now)
	return pet, nil
}

// GetPet implements petstore.Service.
func (s *Store) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return petstore.Pet{}, err
	}
	if id < 1 || id > int64(len(s.pets)) {
		return petstore.Pet{}, petstore.ErrNotFound
	}
	return s.pets[id-1], nil
}
