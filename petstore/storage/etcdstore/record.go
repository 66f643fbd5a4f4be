package etcdstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"example.com/animalstore/petstore"
)

// ErrDamaged says that the cluster does not hold what was written to it. Errors
// that name the damage wrap it.
var ErrDamaged = errors.New("the cluster's data is damaged")

// The letters at the start of keys. The prefix of the store comes before them,
// which only the connections to the members add and remove.
const (
	stateKey   = "s"
	writerKey  = "w"
	leaseKey   = "t"
	loserKey   = "c"
	petKey     = "p"
	nameKey    = "P"
	markKey    = "m"
	indexKey   = "i"
	messageKey = "q"
	textKey    = "Q"
	onceKey    = "o"
	onceLogKey = "l"
)

// numbered returns the key of the record with number n.
func numbered(letter string, n int64) string {
	return string(appendInt64([]byte(letter), n))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumLen is the length of the checksum at the end of a value.
const sumLen = 4

func sum(key string, body []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte(key), castagnoli), castagnoli, body)
}

// seal appends the checksum to body, which makes it a value for key. key does
// not include the prefix, so a store can be copied to another prefix.
func seal(key string, body []byte) string {
	return string(binary.BigEndian.AppendUint32(body, sum(key, body)))
}

// open returns the body of a value that was sealed for key.
func open(key string, value []byte) ([]byte, error) {
	n := len(value) - sumLen
	if n < 0 || binary.BigEndian.Uint32(value[n:]) != sum(key, value[:n]) {
		return nil, damaged("the record %q fails its checksum", key)
	}
	return value[:n], nil
}

// damaged returns an error that wraps ErrDamaged. The details are for the
// operator. A client sees only the message.
func damaged(format string, args ...any) error {
	return &petstore.Error{
		Code:    petstore.CodeInternal,
		Message: "the store is damaged",
		Err:     fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...)),
	}
}

func appendInt64(b []byte, n int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(n)) }
func int64At(b []byte) int64               { return int64(binary.BigEndian.Uint64(b)) }

// appendNumbers appends numbers: the first one and the differences, as varints.
func appendNumbers(b []byte, numbers []int64) []byte {
	before := int64(0)
	for _, n := range numbers {
		b = binary.AppendVarint(b, n-before)
		before = n
	}
	return b
}

// decodeNumbers returns n numbers that appendNumbers wrote, and what follows
// them. The numbers are IDs, or count something: from 0 to maxID.
func decodeNumbers(b []byte, n int64) (numbers []int64, rest []byte, err error) {
	numbers = make([]int64, n)
	before := int64(0)
	for i := range numbers {
		d, size := binary.Varint(b)
		if size <= 0 || d < -before || d > maxID-before {
			return nil, nil, damaged("a list of %d numbers is malformed at the %d-th", n, i+1)
		}
		before += d
		numbers[i], b = before, b[size:]
	}
	return numbers, b, nil
}

// maxID is the highest ID that a store issues. Every JSON reader keeps it
// exactly.
const maxID = 1<<53 - 1
