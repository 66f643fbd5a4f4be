package etcdstore

import (
	"context"

	"example.com/animalstore/petstore"
)

// ImportPets adds pets with the IDs that they have. These must go on from
// the last pet in the store, one by one; if they do not, the error is
// petstore.CodeConflict. It stops at the first error: what is before it in pets
// may have been stored, in the order of IDs without a gap, so that an import
// can go on from [Store.Stats]. It must not be called while others add pets.
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

// ImportMessages adds messages with the ids and times that they have, in the
// order of ids, but for those with an id that the store has already given out.
// No id up to that of number last is given out afterwards. Errors and use are
// those of [Store.ImportPets].
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
					return petstore.Errorf(petstore.CodeInvalid, "the message id %q is none", m.ID)
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
