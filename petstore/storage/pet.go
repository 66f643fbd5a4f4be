package storage

import (
	"context"
	"strconv"

	"github.com/go-json-experiment/json"
	"go.etcd.io/bbolt"

	"example.com/animalstore/petstore"
)

// CreatePet implements petstore.Service.
func (s *Store) CreatePet(ctx context.Context, p petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
	n, err := encodeNew(p)
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

// newPet is a pet to be stored.
type newPet struct {
	petstore.NewPet
	json []byte // what follows the ID in its JSON
}

func encodeNew(p petstore.NewPet) (newPet, error) {
	b, err := petstore.Pet{ID: 1, NewPet: p}.AppendJSON(nil)
	if err != nil {
		return newPet{}, err
	}
	return newPet{p, b[len(`{"id":1`):]}, nil
}

func (p newPet) withID(id int64) []byte {
	b := append(make([]byte, 0, 32+len(p.json)), `{"id":`...)
	return append(strconv.AppendInt(b, id, 10), p.json...)
}

func (u *update) createPet(p newPet, once petstore.Once) (petstore.Pet, error) {
	earlier, err := u.recall(petstore.OnceCreatePet, once)
	if err != nil {
		return petstore.Pet{}, err
	}
	if earlier != nil {
		return u.repeatedPet(earlier.n, p.NewPet)
	}

	pet := petstore.Pet{ID: u.lastPet + 1, NewPet: p.NewPet}
	record := p.withID(pet.ID)
	all, err := u.tail(&u.all, &petTable, u.lastPet)
	if err != nil {
		return petstore.Pet{}, err
	}
	var (
		same *tail // of the pets with the same status
		last *int64
	)
	if p.Status != "" {
		i := statusIndex(p.Status)
		last = &u.last[i]
		if same, err = u.tail(&u.byStatus[i], &statusTables[i], *last); err != nil {
			return petstore.Pet{}, err
		}
	}
	if err := u.remember(petstore.OnceCreatePet, once, outcome{n: pet.ID}); err != nil {
		return petstore.Pet{}, err
	}
	all.add(u, pet.ID, record)
	u.lastPet = pet.ID
	if same != nil {
		// A copy: a page of a status is then read from one place, as fast
		// as one of all.
		same.add(u, pet.ID, record)
		*last = pet.ID
	}
	return pet, nil
}

// flush puts the blocks that pets were added to into their tables.
func (u *update) flush() {
	for _, t := range append(u.byStatus[:], u.all) {
		if t != nil {
			t.flush(u)
		}
	}
}

// repeatedPet answers a creation that is a repetition of the one that made the
// pet with that id, unless it asks for something else.
func (u *update) repeatedPet(id int64, p petstore.NewPet) (petstore.Pet, error) {
	u.flush() // it may have been made in this transaction
	pets, err := petTable.bucket(u.Tx)
	if err != nil {
		return petstore.Pet{}, err
	}
	key := idKey(id)
	if err := u.guard.path(pets, key[:], true); err != nil {
		return petstore.Pet{}, err
	}
	record, err := petRecord(pets.Cursor(), &key, u.lastPet, id)
	if err != nil {
		return petstore.Pet{}, err
	}
	pet, err := decodePet(record)
	if err != nil {
		return petstore.Pet{}, err
	}
	if pet.NewPet != p {
		return petstore.Pet{}, petstore.ErrMismatch
	}
	return pet, nil
}

// GetPet implements petstore.Service.
func (s *Store) GetPet(ctx context.Context, id int64) (_ petstore.Pet, err error) {
	r, err := s.read(ctx)
	if err != nil {
		return petstore.Pet{}, err
	}
	defer r.done(&err)
	record, err := petRecord(r.pets, &r.key, r.state.lastPet, id)
	if err != nil {
		return petstore.Pet{}, err
	}
	return decodePet(record)
}

// AppendPet implements petstore.EncodedReader.
func (s *Store) AppendPet(ctx context.Context, dst []byte, id int64) (_ []byte, err error) {
	r, err := s.read(ctx)
	if err != nil {
		return dst, err
	}
	defer r.done(&err)
	record, err := petRecord(r.pets, &r.key, r.state.lastPet, id)
	return append(dst, record...), err
}

// petRecord returns the JSON of the pet with that id, if it is not beyond
// the last one. It is valid as long as the transaction.
func petRecord(pets *bbolt.Cursor, key *[8]byte, last, id int64) ([]byte, error) {
	if id < 1 || id > last {
		return nil, petstore.ErrNoPet
	}
	b, err := seekBlock(&petTable, pets, key, id)
	if err != nil {
		return nil, err
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
		return petstore.Pet{}, damaged("a record is no pet: %v", err)
	}
	return p, nil
}
