package etcdstore

import (
	"context"

	"example.com/animalstore/petstore"
)

// ImportPets adds pets with the IDs that they have. The IDs must be dense and
// follow that of the last pet in the store; otherwise the error has
// petstore.CodeConflict. ImportPets stops at the first error. Some of the pets
// may then have been stored, in the order of IDs and without a gap, so an import
// can continue after the number of pets in [Store.Stats]. ImportPets must not be
// called while anything else adds pets.
func (s *Store) ImportPets(ctx context.Context, pets []petstore.Pet) error {
	var writes []*write
	for i, p := range pets {
		if p.ID != pets[0].ID+int64(i) {
			return petstore.Errorf(petstore.CodeConflict, "the pet %d does not follow the one before, %d", p.ID, pets[i-1].ID)
		}
		w, err := newPetWrite(p.NewPet)
		if err != nil {
			return err
		}
		w.apply = func(u *update) error {
			if p.ID != u.lastPet+1 {
				return petstore.Errorf(petstore.CodeConflict, "the pet %d does not follow the last one, %d", p.ID, u.lastPet)
			}
			_, err := u.createPet(p.NewPet, w)
			return err
		}
		writes = append(writes, w)
	}
	return s.changeAll(ctx, writes)
}

// changeAll changes more than can wait at once.
func (s *Store) changeAll(ctx context.Context, writes []*write) error {
	for len(writes) > 0 {
		n, size := 0, 0
		for n < min(len(writes), maxBatch) && size < maxBatchBytes {
			size += writes[n].size
			n++
		}
		if err := s.change(ctx, writes[:n]...); err != nil {
			return err
		}
		writes = writes[n:]
	}
	return nil
}

// LastMessage returns the number of the last message that was submitted or
// imported; 0 if there was none.
func (s *Store) LastMessage(ctx context.Context) (int64, error) {
	st, err := s.state(ctx)
	if err != nil {
		return 0, err
	}
	return st.lastMessage, nil
}

// ImportMessages adds messages with the ids and times that they have. They must
// be in the order of ids. It skips messages whose ids are not above the last one
// that the store has issued. Afterwards the store issues only ids above number
// last. Like [Store.ImportPets], it stops at the first error and must not be
// called while anything else adds messages.
func (s *Store) ImportMessages(ctx context.Context, messages []petstore.Message, last int64) error {
	var writes []*write
	for _, m := range messages {
		number, ok := petstore.ParseMessageID(m.ID)
		if !ok || number > maxID {
			return petstore.Errorf(petstore.CodeInvalid, "invalid message id %q", m.ID)
		}
		w, err := newMessageWrite(m.Text)
		if err != nil {
			return err
		}
		w.apply = func(u *update) error {
			if number > u.lastMessage {
				u.lastMessage = number
				u.queued++
				u.putMessage(number, m.CreatedAt.UnixNano(), m.Text)
			}
			return nil
		}
		writes = append(writes, w)
	}
	writes = append(writes, &write{apply: func(u *update) error {
		u.changed = u.changed || last > u.lastMessage
		u.lastMessage = max(u.lastMessage, last)
		return nil
	}})
	return s.changeAll(ctx, writes)
}
