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
	newWrite := func(p petstore.Pet) (*write, error) { return newPetWrite(p.NewPet) }
	return importAll(ctx, s, pets, newWrite, func(u *update, part []petstore.Pet) error {
		for _, p := range part {
			if p.ID != u.lastPet+1 {
				return petstore.Errorf(petstore.CodeConflict, "the pet %d does not follow the last one, %d", p.ID, u.lastPet)
			}
			if _, err := u.createPet(p.NewPet); err != nil {
				return err
			}
		}
		return nil
	})
}

// ImportMessages adds messages with the ids and times that they have. They must
// be in the order of ids, and follow the last one that the store has issued;
// otherwise the error has petstore.CodeConflict. Afterwards the store issues only
// ids above number last. Like [Store.ImportPets], it stops at the first error and
// must not be called while anything else adds messages.
func (s *Store) ImportMessages(ctx context.Context, messages []petstore.Message, last int64) error {
	if last > maxID {
		return petstore.Errorf(petstore.CodeInvalid, "last: must be at most %d, got %d", int64(maxID), last)
	}
	newWrite := func(m petstore.Message) (*write, error) { return newMessageWrite(m.Text) }
	err := importAll(ctx, s, messages, newWrite, func(u *update, part []petstore.Message) error {
		for _, m := range part {
			n, ok := petstore.ParseMessageID(m.ID)
			if !ok || n <= u.lastMessage || n > maxID {
				return petstore.Errorf(petstore.CodeConflict, "the message %q does not follow the last one, %d", m.ID, u.lastMessage)
			}
			u.addMessage(n, m.CreatedAt.UnixNano(), m.Text)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.change(ctx, &write{apply: func(u *update) error {
		u.changed = u.changed || last > u.lastMessage
		u.lastMessage = max(u.lastMessage, last)
		return nil
	}})
}

// importAll calls apply with parts of all that fit into a transaction. newWrite
// returns the write of a single one.
func importAll[T any](ctx context.Context, s *Store, all []T, newWrite func(T) (*write, error), apply func(*update, []T) error) error {
	for len(all) > 0 {
		n, size := 0, 0
		for n < min(len(all), maxBatch) {
			w, err := newWrite(all[n])
			if err != nil {
				return err
			}
			if n > 0 && size+w.size > maxBatchBytes {
				break
			}
			n, size = n+1, size+w.size
		}
		part := all[:n]
		if err := s.change(ctx, &write{alone: true, size: size, apply: func(u *update) error { return apply(u, part) }}); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}
