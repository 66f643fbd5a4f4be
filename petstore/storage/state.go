package storage

import (
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"
)

// schema is the version of the layout in doc.go.
const schema = 1

var stateKey = []byte("state")

// state is the only record of the table petstore. Each transaction reads it and
// stores it again, together with what it counts. Its fields are stored in this
// order; the first one is the same in every version.
type state struct {
	Schema int64 // the version of the file's layout

	// LastIDs are the highest IDs in each of petTables; 0 if there is none.
	LastIDs [4]int64

	LastMessage int64 // the highest number of a message
	Queued      int64 // messages in the queue

	// Clock is how long the file has been open, in nanoseconds: the time
	// of the outcomes. See update.readClock.
	Clock int64

	// Recent is the index in onceTables of the table that takes new outcomes.
	// It has been that since Clock was RecentSince.
	Recent, RecentSince int64

	// OnceSums are the sums of the checksums of all records in each of
	// onceTables. Check finds by them that a record is missing.
	OnceSums [2]int64

	// Closed is 1 in a file that was closed cleanly, otherwise 0. See
	// Store.markClosed.
	Closed int64
}

// lastPet returns the highest ID. IDs are dense, so this is the number of pets
// too.
func (s *state) lastPet() int64 { return s.LastIDs[0] }

// openState opens the value of stateKey.
func openState(value []byte) (s state, err error) {
	b, err := stateTable.open(stateKey, value)
	if err != nil {
		return s, err
	}
	if len(b) >= 8 && int64At(b) > schema {
		return s, fmt.Errorf("%w: its schema is version %d, and this one knows %d", ErrNewer, int64At(b), schema)
	}
	if len(b) != binary.Size(s) {
		return s, damaged("the state has %d bytes", len(b))
	}
	_, err = binary.Decode(b, binary.BigEndian, &s)
	return s, err
}

// store stores the state in the bucket of stateTable.
func (s state) store(b *bbolt.Bucket) error {
	body, err := binary.Append(nil, binary.BigEndian, s)
	if err != nil {
		return err
	}
	return b.Put(stateKey, stateTable.seal(stateKey, body))
}
