package storage

import (
	"encoding/binary"
	"fmt"
)

// schema is the version of the layout in doc.go.
const schema = 1

var stateKey = []byte("state")

// state is the only record of the table petstore. Each transaction reads it and
// stores it again, together with what it counts. Its fields are stored in this
// order; the first one is the same in every version.
type state struct {
	Schema int64 // the version of the file's layout

	// LastIDs are the highest IDs in each of petTables; 0 if there is none. IDs
	// are dense, so the first is the number of pets too.
	LastIDs [4]int64

	LastMessage int64 // the highest number of a message
	Queued      int64 // messages in the queue

	// Clock is the time of the outcomes: how long the file has been open, in
	// nanoseconds, as the system's monotonic clock measures it. Setting the date has
	// no effect. The time between a Close and the next Open is not counted, because
	// only the date could tell it.
	Clock int64

	// Recent is the index in onceTables of the table that takes new outcomes.
	// It has been that since Clock was RecentSince.
	Recent, RecentSince int64

	// OutcomeCounts are how many records there are in each of onceTables.
	OutcomeCounts [2]int64
}

// readState reads the state from the bucket of stateTable.
func readState(b bucket) (s state, err error) {
	body, err := b.open(stateKey, b.Get(stateKey))
	if err != nil {
		return s, err
	}
	if len(body) >= 8 && int64At(body) > schema {
		return s, fmt.Errorf("%w: its schema is version %d, and this one knows %d", ErrNewer, int64At(body), schema)
	}
	if len(body) != binary.Size(s) {
		return s, damaged("the state has %d bytes", len(body))
	}
	_, err = binary.Decode(body, binary.BigEndian, &s)
	return s, err
}

// store stores the state in the bucket of stateTable.
func (s state) store(b bucket) error {
	body, err := binary.Append(nil, binary.BigEndian, s)
	if err != nil {
		return err
	}
	return b.put(stateKey, body)
}
