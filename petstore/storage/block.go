package storage

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math"
	"sort"

	"go.etcd.io/bbolt"
)

// Pets are kept in blocks: the JSON of several pets, with commas between them
// as in a list, under one checksum. So a list copies a few pieces of memory, and
// a pet takes less than half of the space of a record of its own.
const (
	// maxBlock is the length in bytes of the longest block with more than one
	// pet: two of them fill a page of 4 KiB.
	maxBlock = 2016

	blockHeaderLen = 8 + 2 // the ID before the block, the number of pets
	blockEntryLen  = 4 + 4 // an ID, less the first; where its JSON ends
)

// block is a record of a table of pets. Its key is the ID of the first.
type block struct {
	first   int64
	prev    int64  // the ID before the first in the table, 0 if there is none
	n       int    // how many pets there are
	entries []byte // blockEntryLen bytes for each pet
	json    []byte
}

// openBlock opens a record of a table of pets.
func openBlock(t *table, key, value []byte) (block, error) {
	body, err := t.open(key, value)
	if err != nil {
		return block{}, err
	}
	if len(key) != 8 || len(body) < blockHeaderLen {
		return block{}, damaged("%s is not a block", t.describe(key))
	}
	b := block{first: int64At(key), prev: int64At(body), n: int(binary.BigEndian.Uint16(body[8:]))}
	body = body[blockHeaderLen:]
	if b.n == 0 || len(body) < b.n*blockEntryLen || b.first <= b.prev {
		return block{}, damaged("the block %d of %s cannot hold %d pets after %d", b.first, t.name, b.n, b.prev)
	}
	b.entries = body[: b.n*blockEntryLen : b.n*blockEntryLen] // so that add copies it
	b.json = body[b.n*blockEntryLen:]
	start := 0
	for i := range b.n {
		if end := b.end(i); end < start || end > len(b.json) || i > 0 && b.id(i) <= b.id(i-1) {
			return block{}, damaged("the block %d of %s is out of order", b.first, t.name)
		}
		start = b.end(i) + 1
	}
	return b, nil
}

// id returns the ID of the i-th pet.
func (b *block) id(i int) int64 {
	return b.first + int64(binary.BigEndian.Uint32(b.entries[i*blockEntryLen:]))
}

// end returns where the JSON of the i-th pet ends.
func (b *block) end(i int) int {
	return int(binary.BigEndian.Uint32(b.entries[i*blockEntryLen+4:]))
}

// start returns where the JSON of the i-th pet starts.
func (b *block) start(i int) int {
	if i == 0 {
		return 0
	}
	return b.end(i-1) + 1 // after the comma
}

// lastID returns the ID of the last pet, 0 if there is none.
func (b *block) lastID() int64 {
	if b.n == 0 {
		return 0
	}
	return b.id(b.n - 1)
}

// records returns the JSON of the pets i to j-1, with commas between them.
func (b *block) records(i, j int) []byte { return b.json[b.start(i):b.end(j-1)] }

// size returns the length of the JSON of the pets i to j-1, without commas.
func (b *block) size(i, j int) int { return len(b.records(i, j)) - (j - i - 1) }

// search returns the index of the first pet with that ID or a higher one, b.n
// if there is none.
func (b *block) search(id int64) int {
	return sort.Search(b.n, func(i int) bool { return b.id(i) >= id })
}

// add appends a pet, which must follow the others, if it fits. prev is the ID before
// it in the table.
func (b *block) add(prev, id int64, record []byte) bool {
	size := blockHeaderLen + len(b.entries) + blockEntryLen + len(b.json) + 1 + len(record) + sumLen
	switch {
	case b.n == 0:
		b.first, b.prev = id, prev
	case size > maxBlock || id-b.first > math.MaxUint32:
		return false
	default:
		b.json = append(b.json, ',')
	}
	b.json = append(b.json, record...)
	b.entries = binary.BigEndian.AppendUint32(b.entries, uint32(id-b.first))
	b.entries = binary.BigEndian.AppendUint32(b.entries, uint32(len(b.json)))
	b.n++
	return true
}

// put stores the block in its table.
func (b *block) put(t bucket) error {
	body := make([]byte, 0, blockHeaderLen+len(b.entries)+len(b.json)+sumLen)
	body = appendInt64(body, b.prev)
	body = binary.BigEndian.AppendUint16(body, uint16(b.n))
	body = append(append(body, b.entries...), b.json...)
	t.FillPercent = 1 // keys only grow, so leave no room between them
	return t.put(idKey(b.first), body)
}

// seekBlock moves c to the block of a table that holds the pet with that ID or, if
// there is none, the next pet.
func seekBlock(t *table, c *bbolt.Cursor, id int64) (b block, err error) {
	k, v := c.Seek(idKey(id))
	if len(k) == 8 && int64At(k) == id {
		return openBlock(t, k, v)
	}
	before, value := c.Prev()
	if before != nil {
		if b, err = openBlock(t, before, value); err != nil || b.lastID() >= id {
			return b, err
		}
		if k != nil {
			k, v = c.Next()
		}
	}
	if k == nil {
		return block{}, damaged("%s has nothing from %d on", t.name, id)
	}
	return openBlock(t, k, v)
}

// blocks yields the blocks of petTables[i] with the pets after an ID, in order. It
// ends with an error unless they are all there: each block has the ID before it,
// and the state has the last one.
func (t *transaction) blocks(i int, after int64) iter.Seq2[block, error] {
	return func(yield func(block, error) bool) {
		table, c := t.pets[i].table, t.pets[i].Cursor()
		for first := true; after < t.LastIDs[i]; first = false {
			var b block
			var err error
			if first {
				b, err = seekBlock(table, c, after+1)
			} else if k, v := c.Next(); k != nil {
				b, err = openBlock(table, k, v)
			}
			if err == nil && (b.n == 0 || b.prev > after || b.prev < after && !first) {
				err = damaged("%s has a gap after %d", table.name, after)
			}
			if !yield(b, err) || err != nil {
				return
			}
			after = b.lastID()
		}
	}
}

// openLastBlock returns a copy of the last block of petTables[i], which must end where
// the state says. If the table is empty, the block has no pets.
func (t *transaction) openLastBlock(i int) (b block, err error) {
	if k, v := t.pets[i].Cursor().Last(); k != nil {
		if b, err = openBlock(t.pets[i].table, k, bytes.Clone(v)); err != nil {
			return b, err
		}
	}
	if b.lastID() != t.LastIDs[i] {
		return b, damaged("%s ends at %d, want %d", t.pets[i].name, b.lastID(), t.LastIDs[i])
	}
	return b, nil
}
