package etcdstore

import (
	"context"
	"maps"

	clientv3 "go.etcd.io/etcd/client/v3"

	"example.com/animalstore/petstore"
)

// ListPets implements petstore.Service.
func (s *Store) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	q, err := q.Normalize()
	if err != nil {
		return petstore.Page{}, err
	}
	after, err := q.After.ID()
	if err != nil {
		return petstore.Page{}, err
	}
	ctx, cancel := s.limit(ctx)
	defer cancel()
	pets, more, err := s.records(ctx, q.Status, min(after, maxID), q.Limit)
	if err == nil {
		if n := fitting(pets); n < len(pets) {
			pets, more = pets[:n], true
		}
		err = s.longNames(ctx, pets)
	}
	var page petstore.Page
	if err != nil {
		return page, err
	}
	for _, r := range pets {
		page.Pets = append(page.Pets, r.pet())
	}
	if more {
		page.Next = petstore.CursorAfter(pets[len(pets)-1].id)
	}
	return page, nil
}

// fitting returns how many pets are in a list page, which ends where it reaches
// petstore.MaxPageBytes. Only pets with long names can be that large.
func fitting(pets []record) int {
	size := 0
	for i, r := range pets {
		if size >= petstore.MaxPageBytes {
			return i
		}
		if r.size > 0 {
			size += r.size
		} else if json, err := r.pet().AppendJSON(nil); err == nil {
			size += len(json)
		}
	}
	return len(pets)
}

// records reads the records of at most limit pets with that status, "" for any,
// and with IDs above after. more says that others follow.
//
// IDs are never removed from an index, so records can guess from the newest
// state that it knows which pets are in the page. It reads these together with
// the current state, plans the page in that, and then reads what is missing. The
// page is that of the moment at which the state was read.
func (s *Store) records(ctx context.Context, status petstore.Status, after int64, limit int) ([]record, bool, error) {
	var guess []int64
	var missing []string
	if status == "" {
		guess = sequence(after, after+int64(limit))
	} else if st := s.newest.Load(); st != nil {
		guess, _, missing = s.plan(st, status, after, limit)
	}
	v, err := s.read(ctx, append(missing, stateKey), s.blockOps(blocksOf(guess))...)
	if err != nil {
		return nil, false, err
	}
	st, err := s.stateOf(v)
	if err != nil {
		return nil, false, err
	}
	for _, key := range missing {
		if v[key] == nil {
			continue // the member lags
		}
		if err := s.learn(key, v); err != nil {
			return nil, false, err
		}
	}
	ids, more, missing := s.plan(st, status, after, limit)
	for len(missing) > 0 {
		got, err := s.fetch(ctx, missing)
		if err != nil {
			return nil, false, err
		}
		for _, key := range missing {
			if err := s.learn(key, got); err != nil {
				return nil, false, err
			}
		}
		ids, more, missing = s.plan(st, status, after, limit)
	}
	pets, err := s.recordsAt(ctx, st, status, ids, v)
	return pets, more, err
}

// blocksOf returns the numbers of the blocks that have the pets with those IDs,
// which must be ascending.
func blocksOf(ids []int64) []int64 {
	var blocks []int64
	for _, id := range ids {
		if n := blockOf(id); len(blocks) == 0 || blocks[len(blocks)-1] != n {
			blocks = append(blocks, n)
		}
	}
	return blocks
}

// maxGap is how many blocks are read without need rather than in two operations:
// an operation costs three times as much as a block.
const maxGap = 2

// blockOps returns operations that read the blocks with those numbers, which
// must be ascending, and maybe a few between them.
func (s *Store) blockOps(blocks []int64) (ops []clientv3.Op) {
	for i := 0; i < len(blocks); {
		j := i + 1
		for j < len(blocks) && blocks[j]-blocks[j-1] <= 1+maxGap {
			j++
		}
		ops = append(ops, s.rangeOp(numbered(petKey, blocks[i]), numbered(petKey, blocks[j-1]+1)))
		i = j
	}
	return ops
}

// recordsAt returns the records with those IDs, which must have that status. It
// reads the blocks that are not in v.
func (s *Store) recordsAt(ctx context.Context, st *state, status petstore.Status, ids []int64, v values) ([]record, error) {
	var lacking []string
	for _, n := range blocksOf(ids) {
		if key := numbered(petKey, n); n < st.sealed() && v[key] == nil {
			lacking = append(lacking, key)
		}
	}
	if len(lacking) > 0 {
		got, err := s.fetch(ctx, lacking)
		if err != nil {
			return nil, err
		}
		maps.Copy(v, got)
	}
	pets := make([]record, 0, len(ids))
	var block []record
	at := int64(-1)
	for _, id := range ids {
		if n := blockOf(id); n != at {
			var err error
			if block, err = st.block(n, v); err != nil {
				return nil, err
			}
			at = n
		}
		r := block[(id-1)%petsPerBlock]
		if status != "" && r.status != status {
			return nil, damaged("the pet %d is in the index of another status", id)
		}
		pets = append(pets, r)
	}
	return pets, nil
}
