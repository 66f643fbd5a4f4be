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
	n, err := encodePet(p)
	if err != nil {
		return petstore.Pet{}, err
	}
	var pet petstore.Pet
	err = s.change(ctx, len(n.json), func(u *update) (err error) {
		pet, err = u.createPet(n, once)
		return err
	})
	if err != nil {
		return petstore.Pet{}, err
	}
	return pet, nil
}

// encodedPet is a pet to be stored.
type encodedPet struct {
	petstore.NewPet
	json []byte // what follows the ID in its JSON
}

// encodePet validates and encodes p.
func encodePet(p petstore.NewPet) (encodedPet, error) {
	b, err := petstore.Pet{ID: 1, NewPet: p}.AppendJSON(nil)
	if err != nil {
		return encodedPet{}, err
	}
	return encodedPet{p, b[len(`{"id":1`):]}, nil
}

// createPet adds p to the table of all pets and to that of its status. The copy
// makes a list of a status as fast as a list of all pets.
func (u *update) createPet(p encodedPet, once petstore.Once) (petstore.Pet, error) {
	earlier, err := u.recall(petstore.OnceCreatePet, once, p.json)
	if err != nil {
		return petstore.Pet{}, err
	}
	if earlier != nil {
		return petstore.Pet{ID: earlier.n, NewPet: p.NewPet}, nil
	}
	id := u.lastPet() + 1
	if err := u.remember(petstore.OnceCreatePet, once, p.json, id); err != nil {
		return petstore.Pet{}, err
	}
	record := append(make([]byte, 0, 32+len(p.json)), `{"id":`...)
	record = append(strconv.AppendInt(record, id, 10), p.json...)
	err = u.addPet(0, id, record)
	if i := petTableOf(p.Status); i != 0 && err == nil {
		err = u.addPet(i, id, record)
	}
	return petstore.Pet{ID: id, NewPet: p.NewPet}, err
}

// addPet adds a pet to petTables[i].
func (u *update) addPet(i int, id int64, record []byte) (err error) {
	if u.lastBlocks[i] == nil {
		if u.lastBlocks[i], err = u.newLastBlock(&petTables[i], u.buckets.pets[i], u.LastIDs[i]); err != nil {
			return err
		}
	}
	u.LastIDs[i] = id
	return u.lastBlocks[i].add(u, id, record)
}

// flush puts the blocks that pets were added to into their tables.
func (u *update) flush() error {
	for _, l := range u.lastBlocks {
		if l == nil {
			continue
		}
		if err := l.flush(u); err != nil {
			return err
		}
	}
	return nil
}

// GetPet implements petstore.Service.
func (s *Store) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	b, err := s.AppendPet(ctx, nil, id)
	if err != nil {
		return petstore.Pet{}, err
	}
	return decodePet(b)
}

// AppendPet implements petstore.EncodedReader.
func (s *Store) AppendPet(ctx context.Context, dst []byte, id int64) ([]byte, error) {
	err := s.view(ctx, func(r *reader) error {
		record, err := r.pet(id)
		dst = append(dst, record...)
		return err
	})
	return dst, err
}

// pet returns the JSON of the pet with that ID. It is valid until the
// transaction ends.
func (r *reader) pet(id int64) ([]byte, error) {
	if id < 1 || id > r.state.lastPet() {
		return nil, petstore.ErrNoPet
	}
	b, err := r.seekBlock(0, id)
	if err != nil {
		return nil, fmt.Errorf("the pet %d: %w", id, err)
	}
	i := b.search(id)
	if i == b.n || b.id(i) != id {
		return nil, damaged("the pet %d is missing", id)
	}
	return b.records(i, i+1), nil
}

func decodePet(record []byte) (petstore.Pet, error) {
	var p petstore.Pet
	if err := json.Unmarshal(record, &p); err != nil {
		return petstore.Pet{}, damaged("a record is not a pet: %v", err)
	}
	return p, nil
}
