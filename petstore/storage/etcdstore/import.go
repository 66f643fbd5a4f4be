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
	for len(pets) > 0 {
		n, w := 0, &write{}
		for n < min(len(pets), maxPets) && w.ops < maxOps {
			p := pets[n]
			if err := p.Validate(); err != nil {
				return err
			}
			if len(p.Name) > MaxTextBytes {
				return petstore.Errorf(petstore.CodeInvalid, "the name of the pet %d has more than %d bytes", p.ID, MaxTextBytes)
			}
			size := len(p.Name) + recordOverhead
			if n > 0 && w.size+size > maxBatchBytes {
				break
			}
			if len(p.Name) > maxInline {
				w.ops++
			}
			w.size += size
			n++
		}
		w.pets = n
		part := pets[:n]
		w.apply = func(u *update) error {
			for i, p := range part {
				if p.ID != u.lastPet+1+int64(i) {
					return petstore.Errorf(petstore.CodeConflict, "the pet %d does not follow the last one, %d", p.ID, u.lastPet+int64(i))
				}
			}
			for _, p := range part {
				if _, err := u.createPet(p.NewPet, w); err != nil {
					return err
				}
			}
			return nil
		}
		if err := s.change(ctx, w); err != nil {
			return err
		}
		pets = pets[n:]
	}
	return nil
}

// ImportMessages adds messages with the ids and times that they have. They must
// be in the order of ids. It skips messages whose ids are not above the last one
// that the store has issued. Afterwards the store issues only ids above number
// last. Like [Store.ImportPets], it stops at the first error and must not be
// called while anything else adds messages.
func (s *Store) ImportMessages(ctx context.Context, messages []petstore.Message, last int64) error {
	for first := true; first || len(messages) > 0; first = false {
		n, w := 0, &write{}
		for n < len(messages) && w.ops+2 <= maxOps && (n == 0 || w.size+len(messages[n].Text)+recordOverhead <= maxBatchBytes) {
			if len(messages[n].Text) > MaxTextBytes {
				return petstore.Errorf(petstore.CodeInvalid, "the message %s has more than %d bytes", messages[n].ID, MaxTextBytes)
			}
			w.size += len(messages[n].Text) + recordOverhead
			w.ops += 2
			n++
		}
		part, final := messages[:n], n == len(messages)
		w.apply = func(u *update) error {
			for _, m := range part {
				number, ok := petstore.ParseMessageID(m.ID)
				if !ok || number > maxID {
					return petstore.Errorf(petstore.CodeInvalid, "invalid message id %q", m.ID)
				}
				if number <= u.lastMessage {
					continue
				}
				u.lastMessage = number
				u.queued++
				u.putMessage(number, m.CreatedAt.UnixNano(), m.Text)
			}
			if final {
				u.lastMessage, u.changed = max(u.lastMessage, last), true
			}
			return nil
		}
		if err := s.change(ctx, w); err != nil {
			return err
		}
		messages = messages[n:]
	}
	return nil
}
