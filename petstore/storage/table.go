package storage

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"iter"
	"slices"

	"go.etcd.io/bbolt"

	"example.com/animalstore/petstore"
)

// The buckets of the file, with integers of 8 bytes, big-endian:
//
//	petstore  state → the version of the layout and counters: see the type state
//	pets      first ID → a block of pets
//	status/…  first ID → a block of the pets of that status
//	queue     number → time of creation, the text
//	outcomes  digest of an idempotency key → time, what was created, its digest
//
// A block holds the ID before its first pet, that of its last one, and how many pets it
// has (4 bytes). Its index follows: for each pet the ID, and where its JSON starts (4 bytes).
// Then comes the JSON of the pets, with a comma after each. Pets without a status are in no
// bucket of a status. Times are in microseconds since 1970. Every value ends in
// a CRC-32C.

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumLen is the length of the checksum at the end of a value.
const sumLen = 4

// table is a bucket whose values end in a checksum over the bucket's name, the
// key and the rest of the value. So a record is refused if a bit of it is
// flipped, or if it is stored in the place of another.
type table struct {
	name []byte
	seed uint32 // the checksum of the name; that of each record continues it
}

func newTable(name string) table {
	return table{[]byte(name), crc32.Checksum([]byte(name), castagnoli)}
}

// allPets is the index of all pets, those without a status too, in each array that has
// an element for each of petTables.
const allPets = 0

var (
	stateTable   = newTable("petstore")
	queueTable   = newTable("queue")
	outcomeTable = newTable("outcomes")

	// petTables are the table of all pets, at the index allPets, and those of the statuses.
	petTables = [4]table{
		newTable("pets"),
		newTable("status/available"),
		newTable("status/pending"),
		newTable("status/sold"),
	}

	// petTableOf has the index in petTables of the pets of a status; "": of all pets.
	petTableOf = map[petstore.Status]int{
		"":                       allPets,
		petstore.StatusAvailable: 1,
		petstore.StatusPending:   2,
		petstore.StatusSold:      3,
	}

	tables = slices.Concat([]table{stateTable, queueTable, outcomeTable}, petTables[:])
)

// anyTable returns an error unless a file has one of the tables at least.
func anyTable(has func(table) bool) error {
	if slices.ContainsFunc(tables, has) {
		return nil
	}
	return fmt.Errorf("%w, or its root page is damaged", ErrNotPetstore)
}

func (t *table) sum(key, body []byte) uint32 {
	// The key comes last: before the body, as in a page, the sum would not say where it ends.
	return crc32.Update(crc32.Update(t.seed, castagnoli, body), castagnoli, key)
}

// open returns the body of the record under key, or an error if value was not
// stored there.
func (t *table) open(key, value []byte) ([]byte, error) {
	n := len(value) - sumLen
	if n < 0 || binary.BigEndian.Uint32(value[n:]) != t.sum(key, value[:n]) {
		return nil, damaged("%s fails its checksum", t.describe(key))
	}
	return value[:n], nil
}

// describe names the record under a key, in an error. A key of eight bytes is the ID of
// the first pet of a block, or the number of a message.
func (t *table) describe(key []byte) string {
	switch {
	case len(key) != 8:
		return fmt.Sprintf("the record %.32q of %s", key, t.name) // a damaged key may be long
	case t == &queueTable:
		return fmt.Sprintf("the message %d", int64At(key))
	}
	return fmt.Sprintf("the block of %s from the pet %d on", t.name, int64At(key))
}

// bucket is a table in a transaction.
type bucket struct {
	*table
	*bbolt.Bucket
}

// put stores body, which may be overwritten, as the record under key.
func (b bucket) put(key, body []byte) error {
	return b.Put(key, binary.BigEndian.AppendUint32(body, b.sum(key, body)))
}

// find returns the body of the record under key, or nil if there is none. A
// flipped bit may have changed the key of a record, or have led to the wrong page. So if
// there is none, the records on both sides must be sound and in order.
func (b bucket) find(key []byte) ([]byte, error) {
	c := b.Cursor()
	next, value := c.Seek(key)
	var body []byte
	var err error
	if next != nil {
		if body, err = b.open(next, value); err != nil {
			return nil, err
		}
	}
	if bytes.Equal(next, key) {
		return body, nil
	}
	prev, prevValue := c.Prev()
	if prev != nil {
		if _, err := b.open(prev, prevValue); err != nil {
			return nil, err
		}
	}
	if next != nil && bytes.Compare(next, key) < 0 || bytes.Compare(prev, key) >= 0 {
		return nil, damaged("%s is out of order", b.name)
	}
	return nil, nil
}

// after yields the records that follow a key, in order, until an error.
func (b bucket) after(key []byte) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		c := b.Cursor()
		for k, v := c.Seek(append(slices.Clip(key), 0)); k != nil; k, v = c.Next() { // the lowest key that may follow
			body, err := b.open(k, v)
			if err == nil && bytes.Compare(k, key) <= 0 {
				err = damaged("%s is out of order", b.name)
			}
			if !yield(record{key: k, value: body}, err) || err != nil {
				return
			}
			key = k
		}
	}
}

// idKey returns n as a key. Keys are in the order of their numbers.
func idKey(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// int64At reads the integer at the start of b.
func int64At(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) }
