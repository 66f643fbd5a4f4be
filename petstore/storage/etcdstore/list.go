package etcdstore

import (
	"context"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"example.com/animalstore/petstore"
)

// ListPets implements petstore.Service.
func (s *Store) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	var page petstore.Page
	next, err := s.page(ctx, q, func(p petstore.Pet, _ []byte) { page.Pets = append(page.Pets, p) })
	if err != nil {
		return petstore.Page{}, err
	}
	page.Next = next
	return page, nil
}

// AppendPage implements petstore.EncodedReader.
func (s *Store) AppendPage(ctx context.Context, dst []byte, q petstore.ListQuery) ([]byte, petstore.Cursor, error) {
	b := append(dst, '[')
	next, err := s.page(ctx, q, func(_ petstore.Pet, json []byte) {
		if len(b) > len(dst)+1 {
			b = append(b, ',')
		}
		b = append(b, json...)
	})
	if err != nil {
		return dst, "", err
	}
	return append(b, ']'), next, nil
}

// page reads a list page and calls add with each of its pets and the pet's JSON.
func (s *Store) page(ctx context.Context, q petstore.ListQuery, add func(petstore.Pet, []byte)) (petstore.Cursor, error) {
	q, err := q.Normalize()
	if err != nil {
		return "", err
	}
	after, err := q.After.ID()
	if err != nil {
		return "", err
	}
	after = min(after, maxID)
	var pets []record
	var more bool
	if q.Status == "" {
		pets, more, err = s.records(ctx, after, q.Limit)
	} else {
		pets, more, err = s.recordsOf(ctx, q.Status, after, q.Limit)
	}
	if err != nil {
		return "", err
	}
	if err := s.names(ctx, &pets, &more); err != nil {
		return "", err
	}
	json := make([]byte, 0, 256)
	for i, r := range pets {
		pet := r.pet()
		if json, err = pet.AppendJSON(json[:0]); err != nil {
			return "", damaged("the pet %d: %v", r.id, err)
		}
		if r.size > 0 && len(json) != r.size {
			return "", damaged("the JSON of the pet %d has %d bytes, want %d", r.id, len(json), r.size)
		}
		add(pet, json)
		if more && i == len(pets)-1 {
			return petstore.CursorAfter(r.id), nil
		}
	}
	return "", nil
}

// records reads the records of at most limit pets with IDs above after. more
// says that others follow.
func (s *Store) records(ctx context.Context, after int64, limit int) (pets []record, more bool, err error) {
	from, to := blockOf(after+1), blockOf(after+int64(limit))+1
	resp, err := s.read(ctx, []clientv3.Op{
		s.getOp(stateKey),
		s.rangeOp(numbered(petKey, from), numbered(petKey, to)),
	})
	if err != nil {
		return nil, false, err
	}
	st, err := s.stateOf(resp.Responses[0])
	if err != nil {
		return nil, false, err
	}
	last := min(after+int64(limit), st.lastPet)
	if last <= after {
		return nil, false, nil
	}
	have := map[int64]*mvccpb.KeyValue{}
	if err := s.blocksIn(rangeOf(resp.Responses[1]), have); err != nil {
		return nil, false, err
	}
	for n := from; n <= blockOf(last); n++ {
		block, err := blockAt(st, n, have)
		if err != nil {
			return nil, false, err
		}
		for _, r := range block {
			if r.id > after && r.id <= last {
				pets = append(pets, r)
			}
		}
	}
	return pets, last < st.lastPet, nil
}

// blocksIn adds the blocks of pets in kvs to have, by number.
func (s *Store) blocksIn(kvs []*mvccpb.KeyValue, have map[int64]*mvccpb.KeyValue) error {
	for _, kv := range kvs {
		if len(kv.Key) != len(s.config.Prefix)+1+8 {
			return damaged("the key %q is not that of a block of pets", kv.Key)
		}
		have[int64At(kv.Key[len(s.config.Prefix)+1:])] = kv
	}
	return nil
}

// blockAt returns the records of the n-th block, which are in the state if the
// block is not full yet.
func blockAt(st *state, n int64, have map[int64]*mvccpb.KeyValue) ([]record, error) {
	if n == st.sealed() {
		return st.tailRecords()
	}
	kv := have[n]
	if kv == nil {
		return nil, damaged("the pets from %d on are missing", n*petsPerBlock+1)
	}
	return openBlock(n, kv.Value)
}

// recordsOf is records for one status.
//
// IDs are never removed from an index, so recordsOf can guess from the newest
// state that it knows which pets are in the page. It reads these together with
// the current state, plans the page in that, and then reads what is missing. The
// page is that of the moment at which the state was read.
func (s *Store) recordsOf(ctx context.Context, status petstore.Status, after int64, limit int) ([]record, bool, error) {
	var guess []int64
	var missing []string
	if st := s.newest.Load(); st != nil {
		guess, _, missing = s.plan(st, status, after, limit)
	}
	ops := []clientv3.Op{s.getOp(stateKey)}
	for _, key := range missing {
		ops = append(ops, s.getOp(key))
	}
	resp, err := s.read(ctx, append(ops, s.blockOps(blocksOf(guess))...))
	if err != nil {
		return nil, false, err
	}
	st, err := s.stateOf(resp.Responses[0])
	if err != nil {
		return nil, false, err
	}
	got := resp.Responses[1:]
	for i, key := range missing {
		if kv := oneOf(got[i]); kv != nil {
			if err := s.learn([]string{key}, []*mvccpb.KeyValue{kv}); err != nil {
				return nil, false, err
			}
		}
	}
	have := map[int64]*mvccpb.KeyValue{}
	for _, r := range got[len(missing):] {
		if err := s.blocksIn(rangeOf(r), have); err != nil {
			return nil, false, err
		}
	}

	ids, more, missing := s.plan(st, status, after, limit)
	for len(missing) > 0 {
		kvs, err := s.fetch(ctx, missing)
		if err != nil {
			return nil, false, err
		}
		if err := s.learn(missing, kvs); err != nil {
			return nil, false, err
		}
		ids, more, missing = s.plan(st, status, after, limit)
	}
	pets, err := s.recordsAt(ctx, st, status, ids, have)
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
// reads the blocks that are not in have.
func (s *Store) recordsAt(ctx context.Context, st *state, status petstore.Status, ids []int64, have map[int64]*mvccpb.KeyValue) ([]record, error) {
	var keys []string
	var lacking []int64
	for _, n := range blocksOf(ids) {
		if n < st.sealed() && have[n] == nil {
			keys, lacking = append(keys, numbered(petKey, n)), append(lacking, n)
		}
	}
	if len(keys) > 0 {
		kvs, err := s.fetch(ctx, keys)
		if err != nil {
			return nil, err
		}
		for i, n := range lacking {
			have[n] = kvs[i]
		}
	}
	pets := make([]record, 0, len(ids))
	var block []record
	at := int64(-1)
	for _, id := range ids {
		if n := blockOf(id); n != at {
			var err error
			if block, err = blockAt(st, n, have); err != nil {
				return nil, err
			}
			at = n
		}
		r := block[(id-1)%petsPerBlock]
		if r.status != status {
			return nil, damaged("the pet %d is in the index of another status", id)
		}
		pets = append(pets, r)
	}
	return pets, nil
}
