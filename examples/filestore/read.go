package filestore

import (
	"context"

	"example.com/animalstore/petstore"
)

func (s *Store) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.ready(ctx); err != nil {
		return petstore.Pet{}, err
	}
	if id < 1 || id > int64(len(s.pets)) {
		return petstore.Pet{}, petstore.ErrNoPet
	}
	return s.pets[id-1], nil
}

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
	if err := s.ready(ctx); err != nil {
		return page, err
	}
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
	return page, nil
}
