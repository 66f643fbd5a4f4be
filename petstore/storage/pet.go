package storage

import (
	"context"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore"
)

// CreatePet implements petstore.Service.
func (s *Store) CreatePet(ctx context.Context, p petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
	encoded, err := encodePet(p)
	if err != nil {
		return petstore.Pet{}, err
	}
	pet := petstore.Pet{NewPet: p}
	err = s.change(ctx, len(encoded), func(u *update) error {
		o, err := u.once(petstore.OnceCreatePet, once, encoded, func() (int64, error) {
			return u.createPet(p.Status, encoded)
		})
		pet.ID = o.n
		return err
	})
	if err != nil {
		return petstore.Pet{}, err
	}
	return pet, nil
}

// encodePet validates p and returns what follows the ID in its JSON.
func encodePet(p petstore.NewPet) ([]byte, error) {
	b, err := petstore.Pet{ID: 1, NewPet: p}.AppendJSON(nil)
	if err != nil {
		return nil, err
	}
	return b[len(`{"id":1`):], nil
}

// createPet adds a pet to the table of all pets and to that of its status, and
// returns its ID. The copy makes a list of a status as fast as a list of all pets.
// The last blocks stay in memory until the commit.
func (u *update) createPet(status petstore.Status, encoded []byte) (int64, error) {
	id := u.LastIDs[0] + 1
	record := append(make([]byte, 0, 32+len(encoded)), `{"id":`...)
	record = append(strconv.AppendInt(record, id, 10), encoded...)
	in := []int{0, petTableOf(status)}
	if status == "" {
		in = in[:1]
	}
	for _, i := range in {
		b := &u.lastBlocks[i]
		if !b.add(u.LastIDs[i], id, record) { // it is full
			if err := b.put(u.pets[i]); err != nil {
				return 0, err
			}
			*b = block{}
			b.add(u.LastIDs[i], id, record)
		}
		u.LastIDs[i] = id
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

// Encodes implements petstore.EncodedReader.
func (s *Store) Encodes(service petstore.Service) bool { return service == petstore.Service(s) }

// AppendPet implements petstore.EncodedReader.
func (s *Store) AppendPet(ctx context.Context, dst []byte, id int64) ([]byte, error) {
	err := s.view(ctx, func(t *transaction) error {
		if id < 1 || id > t.LastIDs[0] {
			return petstore.ErrNoPet
		}
		record, err := t.pet(0, id)
		dst = append(dst, record...)
		return err
	})
	return dst, err
}

// pet returns the JSON of a pet that must be in petTables[i]. It is valid until the
// transaction ends.
func (t *transaction) pet(i int, id int64) ([]byte, error) {
	b, err := seekBlock(t.pets[i].table, t.pets[i].Cursor(), id)
	if err != nil {
		return nil, fmt.Errorf("the pet %d: %w", id, err)
	}
	j := b.search(id)
	if j == b.n || b.id(j) != id {
		return nil, damaged("the pet %d is missing from %s", id, t.pets[i].name)
	}
	return b.records(j, j+1), nil
}

func decodePet(record []byte) (petstore.Pet, error) {
	var p petstore.Pet
	if err := json.Unmarshal(record, &p); err != nil {
		return petstore.Pet{}, damaged("a record is not a pet: %v", err)
	}
	return p, nil
}
