package storage

import (
	"encoding/binary"
	"math"
	"sort"

	"go.etcd.io/bbolt"
)

// Pets are kept in blocks: runs of their JSON, joined as a list joins them,
// under one checksum. A page of a list is then a few copies of memory, and a
// record costs less than half of what an entry of its own would.
const (
	// maxBlock is how long a block with more than one pet may become, in
	// bytes: two of them fill a page of 4 KiB.
	maxBlock = 2016

	blockHeaderLen = 8 + 2 // the ID before the block, the number of pets
	blockEntryLen  = 4 + 4 // an ID, from that of the first; where its JSON ends
)

// block is a run of pets as it is kept, under the ID of the first.
type block struct {
	first, prev int64
	n           int
	entries     []byte
	json        []byte
}

// openBlock opens a record of a table of pets.
func openBlock(t *table, key, value []byte) (block, error) {
	body, err := t.open(key, value)
	if err != nil {
		return block{}, err
	}
	if len(key) != 8 || len(body) < blockHeaderLen {
		return block{}, damaged("the record %x of %s is no block", key, t.name)
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
	return b.end(i-1) + 1 // behind the comma
}

// last returns the ID of the last pet.
func (b *block) last() int64 { return b.id(b.n - 1) }

// records returns the JSON of the pets from the i-th up to the j-th,
// without that, with commas between them.
func (b *block) records(i, j int) []byte { return b.json[b.start(i):b.end(j-1)] }

// search returns the place of the first pet with that ID or a higher one,
// b.n if there is none.
func (b *block) search(id int64) int {
	return sort.Search(b.n, func(i int) bool { return b.id(i) >= id })
}

// seekBlock finds the block that the pet with that ID is in, if there is
// one, and otherwise one before or behind its place. There has to be a block.
// key is room for the key, which would else be allocated.
func seekBlock(t *table, c *bbolt.Cursor, key *[8]byte, id int64) (block, error) {
	*key = idKey(id)
	k, v := c.Seek(key[:])
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

// tail is the last block of a table while pets are added to it.
type tail struct {
	table   *table
	bucket  *bbolt.Bucket
	first   int64
	prev    int64
	last    int64 // the highest ID in the table, 0 if there is none
	entries []byte
	json    []byte
	changed bool
}

// tail returns the end of a table, which is kept at kept until the transaction
// ends.
func (u *update) tail(kept **tail, t *table, last int64) (_ *tail, err error) {
	if *kept == nil {
		*kept, err = u.newTail(t, last)
	}
	return *kept, err
}

// newTail returns the last block of a table, which has to end at last.
func (u *update) newTail(t *table, last int64) (*tail, error) {
	bucket, err := t.bucket(u.Tx)
	if err != nil {
		return nil, err
	}
	bucket.FillPercent = 1 // keys only ever grow: leave no room between them
	w := &tail{table: t, bucket: bucket, last: last}
	highest := idKey(math.MaxInt64)
	if err := u.guard.path(bucket, highest[:], false); err != nil {
		return nil, err
	}
	k, v := bucket.Cursor().Last()
	if k == nil && last == 0 {
		return w, nil
	} else if k == nil {
		return nil, damaged("%s is empty and does not end at %d", t.name, last)
	}
	b, err := openBlock(t, k, v)
	if err != nil {
		return nil, err
	}
	if b.last() != last {
		return nil, damaged("%s ends at %d and not at %d", t.name, b.last(), last)
	}
	w.first, w.prev = b.first, b.prev
	w.entries = append(make([]byte, 0, maxBlock), b.entries...)
	w.json = append(make([]byte, 0, maxBlock), b.json...)
	return w, nil
}

// add appends a pet, whose ID is higher than all before.
func (w *tail) add(u *update, id int64, record []byte) {
	size := blockHeaderLen + len(w.entries) + blockEntryLen + len(w.json) + 1 + len(record) + sumLen
	if len(w.entries) > 0 && (size > maxBlock || id-w.first > math.MaxUint32) {
		w.flush(u)
		w.entries, w.json = w.entries[:0], w.json[:0]
	}
	if len(w.entries) == 0 {
		w.first, w.prev = id, w.last
	} else {
		w.json = append(w.json, ',')
	}
	w.json = append(w.json, record...)
	w.entries = binary.BigEndian.AppendUint32(w.entries, uint32(id-w.first))
	w.entries = binary.BigEndian.AppendUint32(w.entries, uint32(len(w.json)))
	w.last = id
	w.changed = true
}

// flush puts the block into the table.
func (w *tail) flush(u *update) {
	if !w.changed {
		return
	}
	body := make([]byte, 0, blockHeaderLen+len(w.entries)+len(w.json)+sumLen)
	body = appendInt64(body, w.prev)
	body = binary.BigEndian.AppendUint16(body, uint16(len(w.entries)/blockEntryLen))
	body = append(append(body, w.entries...), w.json...)
	key := idKey(w.first)
	u.put(w.bucket, key[:], w.table.seal(key[:], body))
	w.changed = false
}
