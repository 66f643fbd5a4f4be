package etcdstore

import (
	"context"
	"slices"

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
	pets, more, err := s.records(ctx, q.Status, after, q.Limit)
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
		page.Pets = append(page.Pets, r.Pet)
	}
	if more {
		page.Next = petstore.CursorAfter(pets[len(pets)-1].ID)
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
		} else if json, err := r.AppendJSON(nil); err == nil {
			size += len(json)
		}
	}
	return len(pets)
}

// records reads the records of at most limit pets with that status, "" for any,
// and with IDs above after. more says that others follow.
//
// Pets never change, and IDs are never removed from an index. So if others follow
// in the newest state that the store knows, the page is the same in every later
// one, and records reads only the pets. Otherwise it reads the current state too.
func (s *Store) records(ctx context.Context, status petstore.Status, after int64, limit int) (pets []record, more bool, err error) {
	st, blocks := s.newest.Load(), map[int64][]record{}
	current := false // st was read by this call
	for first := true; ; first = false {
		ids, more, missing := s.plan(st, status, after, limit)
		lacking := slices.DeleteFunc(blocksOf(ids), func(n int64) bool { return n == st.sealed() || blocks[n] != nil })
		ops := append(gets(missing...), blockOps(lacking)...)
		final := current || more
		if final && len(ops) == 0 && !first { // the first time records must find out whether the cluster responds
			pets, err := recordsAt(st, status, ids, blocks)
			return pets, more, err
		}
		renew := !final || len(ops) == 0
		if renew {
			ops = append(ops, clientv3.OpGet(stateKey))
		}
		v, err := s.read(ctx, ops...)
		if err != nil {
			return nil, false, err
		}
		for _, key := range missing {
			if err := s.learn(key, v); err != nil {
				return nil, false, err
			}
		}
		for _, n := range lacking {
			b, err := v.open(numbered(petKey, n))
			if err == nil {
				blocks[n], err = decodeBlock(n, petsPerBlock, b)
			}
			if err != nil {
				return nil, false, err
			}
		}
		if renew {
			if st, err = s.stateOf(v); err != nil {
				return nil, false, err
			}
			current = true
		}
	}
}

// blocksOf returns the numbers of the blocks that have the pets with those IDs,
// which must be ascending.
func blocksOf(ids []int64) []int64 {
	var blocks []int64
	for _, id := range ids {
		blocks = append(blocks, blockOf(id))
	}
	return slices.Compact(blocks)
}

// maxGap is how many blocks are read without need rather than in two operations:
// an operation costs three times as much as a block.
const maxGap = 2

// blockOps returns operations that read the blocks with those numbers, which
// must be ascending, and maybe a few between them.
func blockOps(blocks []int64) (ops []clientv3.Op) {
	for i := 0; i < len(blocks); {
		j := i + 1
		for j < len(blocks) && blocks[j]-blocks[j-1] <= 1+maxGap {
			j++
		}
		ops = append(ops, clientv3.OpGet(numbered(petKey, blocks[i]), clientv3.WithRange(numbered(petKey, blocks[j-1]+1))))
		i = j
	}
	return ops
}

// recordsAt returns the records with those IDs, which must have that status.
// They are in blocks and in the state.
func recordsAt(st *state, status petstore.Status, ids []int64, blocks map[int64][]record) ([]record, error) {
	last, err := decodeBlock(st.sealed(), int(st.lastPet%petsPerBlock), st.pets)
	if err != nil {
		return nil, err
	}
	pets := make([]record, len(ids))
	for i, id := range ids {
		block := last
		if n := blockOf(id); n < st.sealed() {
			block = blocks[n]
		}
		pets[i] = block[(id-1)%petsPerBlock]
		if status != "" && pets[i].Status != status {
			return nil, damaged("the pet %d is in the index of another status", id)
		}
	}
	return pets, nil
}
