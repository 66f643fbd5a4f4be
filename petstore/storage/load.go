package storage

import (
	"cmp"
	"context"
	"iter"

	"example.com/animalstore/petstore"
)

// What Load puts into one transaction: so much that the sync hardly matters,
// and so little that it fits in memory.
const (
	maxLoad      = 50_000
	maxLoadBytes = 8 << 20
)

// Load adds many pets, in few large transactions, and returns how many it has
// added. Their IDs ascend in the order of the sequence. If Load fails, the pets
// of the transactions before are added.
//
// The store may be used meanwhile. Errors: those of CreatePet, for the first
// pet that is refused; the pets before it are added.
func (s *Store) Load(ctx context.Context, pets iter.Seq[petstore.NewPet]) (int64, error) {
	var loaded int64
	var batch []encodedPet
	size := 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := s.change(ctx, size, func(u *update) error {
			for _, p := range batch {
				if _, err := u.createPet(p, petstore.Once{}); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			loaded += int64(len(batch))
		}
		batch, size = batch[:0], 0
		return err
	}
	for pet := range pets {
		p, err := encodePet(pet)
		if err != nil {
			err = cmp.Or(flush(), err)
			return loaded, err
		}
		if len(batch) == maxLoad || size+len(p.json) > maxLoadBytes {
			if err := flush(); err != nil {
				return loaded, err
			}
		}
		batch = append(batch, p)
		size += len(p.json)
	}
	err := flush()
	return loaded, err
}
