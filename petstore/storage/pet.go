package storage

import (
	"context"
	"fmt"
	"math"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/petjson"
	"example.com/animalstore/petstore/internal/rules"
	"example.com/animalstore/petstore/storage/internal/lines"
)

// CreatePet implements petstore.Service.
func (s *Store) CreatePet(ctx context.Context, p petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
	if err := p.Validate(); err != nil {
		return petstore.Pet{}, err
	}
	var value []byte // what the key is for: the pet without its ID
	if key.Key != "" {
		var err error
		if value, err = (petstore.Pet{NewPet: p}).AppendJSON(nil); err != nil {
			return petstore.Pet{}, err
		}
	}
	pet := petstore.Pet{NewPet: p}
	err := s.update(ctx, func(tx *writeTx) error {
		o, err := tx.once(rules.CreatePet, key, value, func(o *lines.Outcome) error {
			if tx.LastPet == math.MaxInt64 {
				return rules.ErrNoIDs
			}
			o.Pet = tx.LastPet + 1
			return tx.addPet(petstore.Pet{ID: o.Pet, NewPet: p})
		})
		pet.ID = o.Pet
		return err
	})
	if err != nil {
		return petstore.Pet{}, err
	}
	return pet, nil
}

// addPet adds a pet, whose ID is higher than all earlier ones, to the table of all pets and
// to that of its status. The copy makes a list of a status as fast as a list of all pets.
// The last blocks stay in memory until the commit.
func (tx *writeTx) addPet(p petstore.Pet) error {
	pet, err := p.AppendJSON(nil)
	if err != nil {
		return err
	}
	tx.Pets++
	tx.LastPet = p.ID
	tables := []int{allPets, petTableOf[p.Status]}
	if p.Status == "" {
		tables = tables[:1]
	}
	for _, i := range tables {
		tail, err := tx.tail(i)
		if err != nil {
			return err
		}
		if tail.pets() > 0 && tail.size()+entryLen+len(pet)+1 > maxBlock {
			if err := tail.putBlock(&tail.block); err != nil {
				return err
			}
			tail.block = block{prev: tail.last}
		}
		tail.add(p.ID, pet)
		tx.LastIDs[i] = p.ID
	}
	return nil
}

// GetPet implements petstore.Service.
func (s *Store) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	return petjson.GetPet(ctx, reader{s}, id)
}

// ListPets implements petstore.Service.
func (s *Store) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	return petjson.ListPets(ctx, reader{s}, q)
}

// JSONReader is for package httpapi, which reads pets as they are stored, in JSON.
func (s *Store) JSONReader() (petstore.Service, petjson.Reader) { return s, reader{s} }

// reader is a [petjson.Reader].
type reader struct{ *Store }

// AppendPet implements petjson.Reader.
func (s reader) AppendPet(ctx context.Context, dst []byte, id int64) ([]byte, error) {
	err := s.view(ctx, func(snap *snapshot) error {
		if id < 1 || id > snap.LastIDs[allPets] {
			return petstore.ErrNotFound
		}
		b, err := seekBlock(&petTables[allPets], snap.pets[allPets].Cursor(), id)
		if err != nil {
			return fmt.Errorf("the pet %d: %w", id, err)
		}
		found, json := b.next()
		if found != id { // an import has left it out
			return petstore.ErrNotFound
		}
		dst = append(dst, json...)
		return nil
	})
	return dst, err
}

// AppendPage implements petjson.Reader. q must be normalized.
func (s reader) AppendPage(ctx context.Context, dst []byte, q petstore.ListQuery) ([]byte, petstore.Cursor, error) {
	after, err := q.After.ID()
	if err != nil {
		return dst, "", err
	}
	page, next := append(dst, '['), petstore.Cursor("")
	err = s.view(ctx, func(snap *snapshot) error {
		i, pets, size := petTableOf[q.Status], 0, 0
		for b, err := range snap.blocks(i, after) {
			if err != nil {
				return err
			}
			n := b.fit(q.Limit-pets, petstore.MaxPageBytes-size)
			after = b.id(n - 1)
			json := b.take(n)
			page = append(page, json...)
			pets, size = pets+n, size+len(json)-n
			if pets == q.Limit || size >= petstore.MaxPageBytes {
				break
			}
		}
		if pets > 0 {
			page = page[:len(page)-1] // the last comma
		}
		if after < snap.LastIDs[i] {
			next = petstore.CursorAfter(after)
		}
		return nil
	})
	if err != nil {
		return dst, "", err
	}
	return append(page, ']'), next, nil
}
