package storage

import (
	"encoding/binary"
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
		return block{}, damaged("%s is not a block", t.record(key))
	}
	b := block{first: int64At(key), prev: int64At(body), n: int(binary.BigEndian.Uint16(body[8:]))}
	body = body[blockHeaderLen:]
	if b.n == 0 || len(body) < b.n*blockEntryLen {
		return block{}, damaged("the block %d of %s has no room for %d pets", b.first, t.name, b.n)
	}
	b.entries, b.json = body[:b.n*blockEntryLen], body[b.n*blockEntryLen:]
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

// seekBlock returns the block of petTables[i] that holds the pet with that ID if
// there is one, otherwise a block next to its place. The table must not be empty.
func (r *reader) seekBlock(i int, id int64) (block, error) {
	t, c := &petTables[i], r.cursors[i]
	r.key = idKey(id)
	k, v := c.Seek(r.key[:])
	if k == nil {
		k, v = c.Last()
	} else if len(k) == 8 && int64At(k) != id {
		if k, v = c.Prev(); k == nil {
			k, v = c.First()
		}
	}
	if k == nil {
		return block{}, damaged("%s is empty", t.name)
	}
	return openBlock(t, k, v)
}

// openLastBlock opens the last block of a table, which must end at last. If the
// table is empty, the block has no pets.
func openLastBlock(t *table, c *bbolt.Cursor, last int64) (b block, err error) {
	if k, v := c.Last(); k != nil {
		if b, err = openBlock(t, k, v); err != nil {
			return b, err
		}
	}
	if end := b.lastID(); end != last {
		return b, damaged("%s ends at %d, want %d", t.name, end, last)
	}
	return b, nil
}

// lastBlock is the last block of a table while pets are added to it.
type lastBlock struct {
	block
	table   *table
	bucket  *bbolt.Bucket
	last    int64 // the highest ID in the table, 0 if there is none
	changed bool
}

// newLastBlock returns a copy of the last block of a table, whose last ID is
// last.
func (u *update) newLastBlock(t *table, bucket *bbolt.Bucket, last int64) (*lastBlock, error) {
	bucket.FillPercent = 1 // keys only grow, so leave no room between them
	if err := u.guard.Check(bucket, afterAll, false); err != nil {
		return nil, err
	}
	b, err := openLastBlock(t, bucket.Cursor(), last)
	if err != nil {
		return nil, err
	}
	b.entries = append(make([]byte, 0, maxBlock), b.entries...)
	b.json = append(make([]byte, 0, maxBlock), b.json...)
	return &lastBlock{block: b, table: t, bucket: bucket, last: last}, nil
}

// add appends a pet, whose ID is higher than all before.
func (l *lastBlock) add(u *update, id int64, record []byte) error {
	size := blockHeaderLen + len(l.entries) + blockEntryLen + len(l.json) + 1 + len(record) + sumLen
	if l.n > 0 && (size > maxBlock || id-l.first > math.MaxUint32) {
		if err := l.flush(u); err != nil {
			return err
		}
		l.n, l.entries, l.json = 0, l.entries[:0], l.json[:0]
	}
	if l.n == 0 {
		l.first, l.prev = id, l.last
	} else {
		l.json = append(l.json, ',')
	}
	l.json = append(l.json, record...)
	l.entries = binary.BigEndian.AppendUint32(l.entries, uint32(id-l.first))
	l.entries = binary.BigEndian.AppendUint32(l.entries, uint32(len(l.json)))
	l.n++
	l.last = id
	l.changed = true
	return nil
}

// flush puts the block into the table, if it has changed.
func (l *lastBlock) flush(u *update) error {
	if !l.changed {
		return nil
	}
	l.changed = false
	body := make([]byte, 0, blockHeaderLen+len(l.entries)+len(l.json)+sumLen)
	body = appendInt64(body, l.prev)
	body = binary.BigEndian.AppendUint16(body, uint16(l.n))
	body = append(append(body, l.entries...), l.json...)
	key := idKey(l.first)
	return u.put(l.bucket, key[:], l.table.seal(key[:], body))
}
