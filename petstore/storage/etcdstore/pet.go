package etcdstore

import (
	"context"
	"encoding/binary"
	"errors"

	"example.com/animalstore/petstore"
)

// MaxTextBytes is the length in bytes of the longest name and of the longest
// text of a message.
const MaxTextBytes = 1 << 20

// maxInline is the length in bytes of the longest name in a block and of the
// longest text in the record of a message. A longer one has a record of its own.
// So blocks stay small, and a list reads long names only if its page has room
// for them.
const maxInline = 256

// The first byte of a pet in a block has the number of its status, 0 for none,
// and whether its name has a record of its own.
const (
	statusBits = 0x03
	longBit    = 0x04
)

// record is a pet in a block, without its name if that is long.
type record struct {
	id       int64
	category int64
	status   petstore.Status
	name     []byte
	size     int // of the pet's JSON if the name is long, otherwise 0
}

// pet returns the pet. If the name is long, it must have been set.
func (r *record) pet() petstore.Pet {
	return petstore.Pet{ID: r.id, NewPet: petstore.NewPet{Name: string(r.name), CategoryID: r.category, Status: r.status}}
}

// appendPet appends a pet to a block.
func appendPet(b []byte, p petstore.Pet) ([]byte, error) {
	head := byte(0)
	if p.Status != "" {
		head = byte(1 + statusIndex(p.Status))
	}
	if len(p.Name) <= maxInline {
		b = binary.AppendVarint(append(b, head), p.CategoryID)
		b = binary.AppendUvarint(b, uint64(len(p.Name)))
		return append(b, p.Name...), nil
	}
	json, err := p.AppendJSON(nil)
	if err != nil {
		return b, err
	}
	b = binary.AppendVarint(append(b, head|longBit), p.CategoryID)
	return binary.AppendUvarint(b, uint64(len(json))), nil
}

// cutRecord returns the first record in b, and what follows it. ok is false if b
// does not start with a record.
func cutRecord(id int64, b []byte) (r record, rest []byte, ok bool) {
	if len(b) == 0 || b[0]&^(statusBits|longBit) != 0 {
		return r, b, false
	}
	r.id = id
	if s := b[0] & statusBits; s > 0 {
		r.status = petstore.Statuses()[s-1]
	}
	long := b[0]&longBit != 0
	category, n := binary.Varint(b[1:])
	if n <= 0 {
		return r, b, false
	}
	r.category, b = category, b[1+n:]
	size, n := binary.Uvarint(b)
	if n <= 0 {
		return r, b, false
	}
	b = b[n:]
	if long {
		r.size = int(min(size, 1<<30))
		return r, b, size > maxInline
	}
	if size > maxInline || size > uint64(len(b)) {
		return r, b, false
	}
	r.name = b[:size]
	return r, b[size:], true
}

// records returns the n records in b, of pets with IDs from first on.
func records(first int64, n int, b []byte) ([]record, error) {
	all := make([]record, n)
	for i := range all {
		var ok bool
		if all[i], b, ok = cutRecord(first+int64(i), b); !ok {
			return nil, damaged("the record of the pet %d is malformed", first+int64(i))
		}
	}
	if len(b) > 0 {
		return nil, damaged("%d bytes follow the %d pets from %d on", len(b), n, first)
	}
	return all, nil
}

// blockOf returns the number of the block that the pet with that ID is in,
// or will be in.
func blockOf(id int64) int64 { return (id - 1) / petsPerBlock }

// block returns the records of the n-th block, which is in v or, if it is not full
// yet, in the state.
func (s *state) block(n int64, v values) ([]record, error) {
	if n == s.sealed() {
		return records(n*petsPerBlock+1, int(s.lastPet%petsPerBlock), s.pets)
	}
	b, err := v.open(numbered(petKey, n))
	if err != nil {
		return nil, err
	}
	return records(n*petsPerBlock+1, petsPerBlock, b)
}

// CreatePet implements petstore.Service.
func (s *Store) CreatePet(ctx context.Context, p petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
	w, err := newPetWrite(p)
	if err != nil {
		return petstore.Pet{}, err
	}
	var pet petstore.Pet
	var repeated int64
	w.remember(petstore.OnceCreatePet, once)
	w.apply = func(u *update) error {
		o, err := u.recall(w)
		switch {
		case err != nil:
			return err
		case o == nil:
			pet, err = u.createPet(p, w)
			return err
		case o.pet != nil: // created in this transaction
			pet = *o.pet
			if pet.NewPet != p {
				return petstore.ErrMismatch
			}
			return nil
		}
		repeated = o.n
		return nil
	}
	limit, cancel := s.limit(ctx)
	defer cancel()
	if err := s.change(ctx, w); err != nil {
		return petstore.Pet{}, err
	}
	if repeated == 0 {
		return pet, nil
	}
	return s.repeatedPet(limit, repeated, p)
}

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

// repeatedPet returns the result of a repeated creation: the pet with that id,
// which the first one created, or petstore.ErrMismatch if p differs from it.
func (s *Store) repeatedPet(ctx context.Context, id int64, p petstore.NewPet) (petstore.Pet, error) {
	pet, err := s.GetPet(ctx, id)
	if errors.Is(err, petstore.ErrNoPet) {
		return pet, damaged("the pet %d of a repeated creation is missing", id)
	}
	if err == nil && pet.NewPet != p {
		return petstore.Pet{}, petstore.ErrMismatch
	}
	return pet, err
}

// recordOverhead is more than what a pet or a message takes in a request besides
// its text.
const recordOverhead = 256

func (u *update) createPet(p petstore.NewPet, w *write) (petstore.Pet, error) {
	pet := petstore.Pet{ID: u.lastPet + 1, NewPet: p}
	if pet.ID > maxID {
		return petstore.Pet{}, petstore.Errorf(petstore.CodeFull, "there are no more ids")
	}
	pets, err := appendPet(u.pets, pet)
	if err != nil {
		return petstore.Pet{}, err
	}
	if u.lastPet > 0 && u.lastPet%idsPerBlock == 0 {
		u.mark()
	}
	u.lastPet, u.pets, u.changed = pet.ID, pets, true
	if pet.ID%petsPerBlock == 0 {
		key := numbered(petKey, blockOf(pet.ID))
		u.put(key, seal(key, pets))
		u.pets = nil
	}
	if len(p.Name) > maxInline {
		key := numbered(nameKey, pet.ID)
		u.put(key, seal(key, []byte(p.Name)))
	}
	if p.Status != "" {
		u.index(statusIndex(p.Status), pet.ID)
	}
	u.note(w, &outcome{n: pet.ID, pet: &pet})
	return pet, nil
}

// GetPet implements petstore.Service.
func (s *Store) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	if id < 1 || id > maxID {
		if err := s.usable(ctx); err != nil {
			return petstore.Pet{}, err
		}
		return petstore.Pet{}, petstore.ErrNoPet
	}
	ctx, cancel := s.limit(ctx)
	defer cancel()
	// Most pets are in a full block. The last few are in the state, or in a
	// block that was filled since the store last read the state.
	n := blockOf(id)
	key := numbered(petKey, n)
	var v values
	var err error
	st := s.newest.Load()
	if st != nil && n < st.sealed() {
		v, err = s.fetch(ctx, []string{key})
	} else if v, err = s.read(ctx, []string{stateKey, key}); err == nil {
		st, err = s.stateOf(v)
	}
	if err != nil {
		return petstore.Pet{}, err
	}
	if id > st.lastPet {
		return petstore.Pet{}, petstore.ErrNoPet
	}
	block, err := st.block(n, v)
	if err != nil {
		return petstore.Pet{}, err
	}
	pets := block[(id-1)%petsPerBlock:][:1]
	if err := s.longNames(ctx, pets); err != nil {
		return petstore.Pet{}, err
	}
	return pets[0].pet(), nil
}

// longNames reads the names of those pets that are in records of their own.
func (s *Store) longNames(ctx context.Context, pets []record) error {
	var keys []string
	for _, r := range pets {
		if r.size > 0 {
			keys = append(keys, numbered(nameKey, r.id))
		}
	}
	if len(keys) == 0 {
		return nil
	}
	v, err := s.fetch(ctx, keys)
	for i := range pets {
		if r := &pets[i]; r.size > 0 && err == nil {
			r.name, err = v.open(numbered(nameKey, r.id))
		}
	}
	return err
}
