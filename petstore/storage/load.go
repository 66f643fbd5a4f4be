package storage

import (
	"context"
	"iter"

	"example.com/animalstore/petstore"
)

// What Load puts into one transaction: enough for the sync at its end not to
// matter, and little enough to be held in memory.
const (
	maxLoad      = 50_000
	maxLoadBytes = 8 << 20
)

// Load adds many pets, a large transaction at a time, and returns how many
// it has added: on an error, those before it in the sequence, less what was in
// the transaction that failed. Their IDs ascend in the order of the sequence.
//
// The store may be used meanwhile. Errors: those of CreatePet, for the first
// pet that is refused.
func (s *Store) Load(ctx context.Context, pets iter.Seq[petstore.NewPet]) (int64, error) {
	var loaded int64
	var batch []newPet
	size := 0
	flush := func() error {
		err := s.change(ctx, size, func(u *update) error {
			for _, p := range batch {
				if _, err := u.createPet(p, petstore.Once{}); err != nil {
					u.note(err) // some have been put: none must stay
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
	for p := range pets {
		n, err := encodeNew(p)
		if err != nil {
			if e := flush(); e != nil {
				return loaded, e
			}
			return loaded, err
		}
		if len(batch) == maxLoad || len(batch) > 0 && size+len(n.json) > maxLoadBytes {
			if err := flush(); err != nil {
				return loaded, err
			}
		}
		batch = append(batch, n)
		size += len(n.json)
	}
	if len(batch) == 0 {
		return loaded, nil
	}
	return loaded, flush()
}
