package etcdstore

import (
	"cmp"
	"context"
	"errors"

	"example.com/animalstore/petstore"
)

// MaxTextBytes is the length in bytes of the longest name and of the longest
// text of a message.
const MaxTextBytes = 1 << 20

// CreatePet implements petstore.Service.
func (s *Store) CreatePet(ctx context.Context, p petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
	w, err := newPetWrite(p)
	if err != nil {
		return petstore.Pet{}, err
	}
	var pet petstore.Pet
	var earlier *outcome
	w.remember(petstore.OnceCreatePet, once)
	w.apply = func(u *update) (err error) {
		if earlier, err = u.recall(w); err != nil || earlier != nil {
			return err
		}
		if pet, err = u.createPet(p); err == nil {
			u.note(w, &outcome{n: pet.ID})
		}
		return err
	}
	limit, cancel := s.limit(ctx)
	defer cancel()
	if err := s.change(ctx, w); err != nil {
		return petstore.Pet{}, err
	}
	if earlier == nil {
		return pet, nil
	}
	pet, err = s.GetPet(limit, earlier.n)
	switch {
	case errors.Is(err, petstore.ErrNoPet):
		err = damaged("the pet %d of a repeated creation is missing", earlier.n)
	case err == nil && pet.NewPet != p:
		pet, err = petstore.Pet{}, petstore.ErrMismatch
	}
	return pet, err
}

// recordOverhead is more than what a pet or a message takes in a request besides
// its text.
const recordOverhead = 256

// newPetWrite returns a write with room for a pet.
func newPetWrite(p petstore.NewPet) (*write, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if len(p.Name) > MaxTextBytes {
		return nil, petstore.Errorf(petstore.CodeInvalid, "name: must have at most %d bytes", MaxTextBytes)
	}
	w := &write{size: len(p.Name) + recordOverhead}
	if len(p.Name) > maxInline {
		w.ops++
	}
	return w, nil
}

func (u *update) createPet(p petstore.NewPet) (petstore.Pet, error) {
	pet := petstore.Pet{ID: u.lastPet + 1, NewPet: p}
	if pet.ID > maxID {
		return petstore.Pet{}, petstore.Errorf(petstore.CodeFull, "there are no more ids")
	}
	pets, err := appendPet(u.pets, pet)
	if err != nil {
		return petstore.Pet{}, err
	}
	if u.lastPet > 0 && u.lastPet%idsPerBlock == 0 {
		u.put(numbered(markKey, u.lastPet/idsPerBlock), appendNumbers(nil, u.count[:]))
	}
	u.lastPet, u.pets, u.changed = pet.ID, pets, true
	if pet.ID%petsPerBlock == 0 {
		u.put(numbered(petKey, blockOf(pet.ID)), pets)
		u.pets = nil
	}
	if len(p.Name) > maxInline {
		u.put(numbered(nameKey, pet.ID), []byte(p.Name))
	}
	if p.Status != "" {
		u.index(statusIndex(p.Status), pet.ID)
	}
	return pet, nil
}

// GetPet implements petstore.Service.
func (s *Store) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	if id < 1 {
		return petstore.Pet{}, cmp.Or[error](s.usable(ctx), petstore.ErrNoPet)
	}
	ctx, cancel := s.limit(ctx)
	defer cancel()
	pets, _, err := s.records(ctx, "", id-1, 1)
	if err == nil && len(pets) == 0 {
		err = petstore.ErrNoPet
	}
	if err == nil {
		err = s.longNames(ctx, pets)
	}
	if err != nil {
		return petstore.Pet{}, err
	}
	return pets[0].Pet, nil
}

// longNames reads the names of those pets that are in records of their own.
func (s *Store) longNames(ctx context.Context, pets []record) error {
	var keys []string
	for _, r := range pets {
		if r.size > 0 {
			keys = append(keys, numbered(nameKey, r.ID))
		}
	}
	if len(keys) == 0 {
		return nil
	}
	v, err := s.read(ctx, gets(keys...)...)
	for i := range pets {
		if r := &pets[i]; r.size > 0 && err == nil {
			var name []byte
			name, err = v.open(numbered(nameKey, r.ID))
			r.Name = string(name)
		}
	}
	return err
}
