package storage

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"go.etcd.io/bbolt"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/internal/boltfile"
)

// ErrDamaged is wrapped by every error that says that the file does not hold
// what was written to it.
var ErrDamaged = boltfile.ErrDamaged

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

var (
	stateTable = newTable("petstore")
	queueTable = newTable("queue")

	// petTables are the table of all pets and those of the statuses, in the
	// order of petTableOf.
	petTables = [4]table{newTable("pets"), newTable("status/available"), newTable("status/pending"), newTable("status/sold")}

	// onceTables take turns at being the recent one; see outcome.
	onceTables = [2]table{newTable("once/0"), newTable("once/1")}

	tables = slices.Concat([]table{stateTable, queueTable}, petTables[:], onceTables[:])
)

// petTableOf returns the index in petTables of the pets of a status, which must
// be valid, or of all pets if s is "".
func petTableOf(s petstore.Status) int {
	switch s {
	case "":
		return 0
	case petstore.StatusAvailable:
		return 1
	case petstore.StatusPending:
		return 2
	}
	return 3
}

func (t *table) sum(key, body []byte) uint32 {
	return crc32.Update(crc32.Update(t.seed, castagnoli, key), castagnoli, body)
}

// seal appends the checksum to body, which makes it the value of key.
func (t *table) seal(key, body []byte) []byte {
	return binary.BigEndian.AppendUint32(body, t.sum(key, body))
}

// open returns the body of a sealed value, or an error if it was not sealed for
// key.
func (t *table) open(key, value []byte) ([]byte, error) {
	n := len(value) - sumLen
	if n < 0 || binary.BigEndian.Uint32(value[n:]) != t.sum(key, value[:n]) {
		return nil, damaged("%s fails its checksum", t.record(key))
	}
	return value[:n], nil
}

// record names the record under a key, in an error. A key of eight bytes is shown as
// a number: the ID of the first pet in the record, or the number of its message.
func (t *table) record(key []byte) string {
	if len(key) == 8 {
		return fmt.Sprintf("the record %d of %s", int64At(key), t.name)
	}
	return fmt.Sprintf("the record %x of %s", key, t.name)
}

// buckets are the buckets of the tables in a transaction.
type buckets struct {
	all          []*bbolt.Bucket // of tables
	state, queue *bbolt.Bucket
	pets, once   []*bbolt.Bucket // of petTables and onceTables
}

func openBuckets(tx *bbolt.Tx) (b buckets, err error) {
	for _, t := range tables {
		bucket := tx.Bucket(t.name)
		if bucket == nil {
			if len(b.all) == 0 {
				return b, ErrForeign
			}
			return b, damaged("the bucket %s is missing", t.name)
		}
		b.all = append(b.all, bucket)
	}
	b.state, b.queue, b.pets, b.once = b.all[0], b.all[1], b.all[2:6], b.all[6:]
	return b, nil
}

// idKey returns n as a key. Keys are in the order of their numbers.
func idKey(n int64) [8]byte {
	var k [8]byte
	binary.BigEndian.PutUint64(k[:], uint64(n))
	return k
}

// afterAll is a key after those of all records.
var afterAll = bytes.Repeat([]byte{0xFF}, 64)

// int64At reads the integer at the start of b.
func int64At(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) }

// appendInt64 appends n in the form that int64At reads.
func appendInt64(b []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(n))
}

// damaged returns an error that wraps ErrDamaged.
func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}
