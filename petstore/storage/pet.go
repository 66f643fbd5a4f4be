package storage

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore"
)

// CreatePet implements petstore.Service.
func (s *Store) CreatePet(ctx context.Context, p petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
	if err := p.Validate(); err != nil {
		return petstore.Pet{}, err
	}
	encoded, err := petstore.Pet{NewPet: p}.AppendJSON(nil)
	if err != nil {
		return petstore.Pet{}, err
	}
	pet := petstore.Pet{NewPet: p}
	err = s.change(ctx, func(tx *transaction) error {
		o, err := tx.once(petstore.OnceCreatePet, once, encoded, func() (int64, error) {
			return tx.createPet(p.Status, encoded)
		})
		pet.ID = o.N
		return err
	})
	if err != nil {
		return petstore.Pet{}, err
	}
	return pet, nil
}

// createPet adds a pet to the table of all pets and to that of its status, and
// returns its ID. The copy makes a list of a status as fast as a list of all pets.
// The last blocks stay in memory until the commit. encoded is the JSON of the pet with
// the ID 0. The new ID replaces it: Pet.AppendJSON puts the member id first.
func (tx *transaction) createPet(status petstore.Status, encoded []byte) (int64, error) {
	id := tx.LastIDs[0] + 1
	pet := append(make([]byte, petHeaderLen, 40+len(encoded)), `{"id":`...)
	pet = append(strconv.AppendInt(pet, id, 10), encoded[len(`{"id":0`):]...)
	binary.BigEndian.PutUint64(pet, uint64(id))
	binary.BigEndian.PutUint32(pet[8:], uint32(len(pet)-petHeaderLen))
	in := []int{0, petTableOf[status]}
	if status == "" {
		in = in[:1]
	}
	for _, i := range in {
		b := &tx.lastBlocks[i]
		if len(b.pets) > 0 && blockHeaderLen+len(b.pets)+len(pet)+sumLen > maxBlock {
			if err := b.put(tx.pets[i]); err != nil {
				return 0, err
			}
			*b = block{prev: b.last}
		}
		b.pets = append(b.pets, pet...)
		b.last = id
		tx.LastIDs[i] = id
	}
	return id, nil
}

// GetPet implements petstore.Service.
func (s *Store) GetPet(ctx context.Context, id int64) (pet petstore.Pet, err error) {
	b, err := s.AppendPet(ctx, nil, id)
	if err == nil {
		pet, err = decodePet(b)
	}
	return pet, err
}

func decodePet(b []byte) (petstore.Pet, error) {
	var p petstore.Pet
	if err := json.Unmarshal(b, &p); err != nil {
		return petstore.Pet{}, damaged("a record is not a pet: %v", err)
	}
	return p, nil
}

// ListPets implements petstore.Service.
func (s *Store) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	b, next, err := s.AppendPage(ctx, nil, q)
	if err != nil || string(b) == "[]" {
		return petstore.Page{}, err
	}
	page := petstore.Page{Next: next}
	if err := json.Unmarshal(b, &page.Pets); err != nil {
		return petstore.Page{}, damaged("a record is not a pet: %v", err)
	}
	return page, nil
}

// Encodes implements petstore.EncodedReader.
func (s *Store) Encodes(service petstore.Service) bool { return service == petstore.Service(s) }

// AppendPet implements petstore.EncodedReader.
func (s *Store) AppendPet(ctx context.Context, dst []byte, id int64) ([]byte, error) {
	err := s.view(ctx, func(tx *transaction) error {
		if id < 1 || id > tx.LastIDs[0] {
			return petstore.ErrNoPet
		}
		b, err := seekBlock(tx.pets[0].table, tx.pets[0].Cursor(), id)
		if err != nil {
			return fmt.Errorf("the pet %d: %w", id, err)
		}
		found, json := b.next()
		if found != id {
			return damaged("the pet %d is missing", id)
		}
		dst = append(dst, json...)
		return nil
	})
	return dst, err
}

// AppendPage implements petstore.EncodedReader.
func (s *Store) AppendPage(ctx context.Context, dst []byte, q petstore.ListQuery) ([]byte, petstore.Cursor, error) {
	q, err := q.Normalize()
	if err != nil {
		return dst, "", err
	}
	after, err := q.After.ID()
	if err != nil {
		return dst, "", err
	}
	page, next := append(dst, '['), petstore.Cursor("")
	err = s.view(ctx, func(tx *transaction) error {
		i, n, size := petTableOf[q.Status], 0, 0
		for b, err := range tx.blocks(i, after) {
			if err != nil {
				return err
			}
			for ; len(b.pets) > 0 && n < q.Limit && size < petstore.MaxPageBytes; n++ {
				if n > 0 {
					page = append(page, ',')
				}
				var json []byte
				after, json = b.next()
				page = append(page, json...)
				size += len(json)
			}
			if n == q.Limit || size >= petstore.MaxPageBytes {
				break
			}
		}
		if after < tx.LastIDs[i] {
			next = petstore.CursorAfter(after)
		}
		return nil
	})
	if err != nil {
		return dst, "", err
	}
	return append(page, ']'), next, nil
}
