package storage

import (
	"encoding/binary"
	"iter"
	"slices"

	"go.etcd.io/bbolt"
)

// Pets are kept in blocks: several of them under one checksum. So a list reads few
// records, and a pet takes less than half of the space of a record of its own.
const (
	// maxBlock is the length in bytes of the longest block with more than one
	// pet: two of them fill a page of 4 KiB.
	maxBlock = 2016

	blockHeaderLen = 8     // the ID before the block
	petHeaderLen   = 8 + 4 // the ID of a pet, the length of its JSON
)

// block is a record of a table of pets. Its key is the ID of the first.
type block struct {
	prev int64 // the ID before the first in the table, 0 if there is none
	pets []storedPet
	size int // of the record, in bytes
}

type storedPet struct {
	id   int64
	json []byte
}

// openBlock opens a record of a table of pets. The JSON is valid until the transaction
// ends.
func openBlock(t *table, key, value []byte) (block, error) {
	body, err := t.open(key, value)
	if err != nil {
		return block{}, err
	}
	if len(key) != 8 || len(body) < blockHeaderLen {
		return block{}, damaged("%s is not a block", t.describe(key))
	}
	b := block{int64At(body), make([]storedPet, 0, 32), len(value)}
	last := b.prev
	for body = body[blockHeaderLen:]; len(body) >= petHeaderLen; {
		p := storedPet{id: int64At(body)}
		n := int64(binary.BigEndian.Uint32(body[8:]))
		body = body[petHeaderLen:]
		if n > int64(len(body)) || p.id <= last {
			return block{}, damaged("%s is out of order", t.describe(key))
		}
		p.json, body, last = body[:n], body[n:], p.id
		b.pets = append(b.pets, p)
	}
	if len(body) > 0 || len(b.pets) == 0 || b.pets[0].id != int64At(key) {
		return block{}, damaged("%s does not hold its pets", t.describe(key))
	}
	return b, nil
}

// lastID returns the ID of the last pet, 0 if there is none.
func (b *block) lastID() int64 {
	if len(b.pets) == 0 {
		return 0
	}
	return b.pets[len(b.pets)-1].id
}

// put stores the block, which has pets, in its table.
func (b *block) put(t bucket) error {
	body := binary.BigEndian.AppendUint64(make([]byte, 0, b.size), uint64(b.prev))
	for _, p := range b.pets {
		body = binary.BigEndian.AppendUint64(body, uint64(p.id))
		body = binary.BigEndian.AppendUint32(body, uint32(len(p.json)))
		body = append(body, p.json...)
	}
	t.FillPercent = 1 // keys only grow, so leave no room between them
	return t.put(idKey(b.pets[0].id), body)
}

// seekBlock moves c to the block of a table that holds the pet with that ID or, if
// there is none, the next pet. It returns the block without the pets before that.
func seekBlock(t *table, c *bbolt.Cursor, id int64) (b block, err error) {
	k, v := c.Seek(idKey(id))
	if len(k) == 8 && int64At(k) == id {
		return openBlock(t, k, v)
	}
	before, value := c.Prev()
	if before != nil {
		b, err = openBlock(t, before, value)
		if i := slices.IndexFunc(b.pets, func(p storedPet) bool { return p.id >= id }); err != nil || i >= 0 {
			b.pets = b.pets[max(i, 0):]
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

// petsAfter yields the pets of petTables[i] after an ID, in order. It ends with an error
// unless they are all there: each block has the ID before it, and the state has the last
// one.
func (tx *transaction) petsAfter(i int, after int64) iter.Seq2[storedPet, error] {
	return func(yield func(storedPet, error) bool) {
		t, c := tx.pets[i].table, tx.pets[i].Cursor()
		for first := true; after < tx.LastIDs[i]; first = false {
			var b block
			var err error
			if first {
				b, err = seekBlock(t, c, after+1)
			} else if k, v := c.Next(); k != nil {
				b, err = openBlock(t, k, v)
			}
			if err == nil && (len(b.pets) == 0 || b.pets[0].id <= after || b.prev > after || b.prev < after && !first) {
				err = damaged("%s has a gap after %d", t.name, after)
			}
			if err != nil {
				yield(storedPet{}, err)
				return
			}
			for _, p := range b.pets {
				if !yield(p, nil) {
					return
				}
			}
			after = b.lastID()
		}
	}
}
