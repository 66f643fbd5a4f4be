package storage

import (
	"encoding/binary"
	"fmt"
)

// schema is the version of the layout that table.go describes.
const schema = 3

var stateKey = []byte("state")

// state is the only record of the table petstore. Each commit stores it again, together
// with what it counts. Its fields are stored in this order.
type state struct {
	Schema int64 // the version of the file's layout; the first field in every version

	Pets    int64    // how many there are
	LastPet int64    // the highest ID that was issued; an import may leave out some
	LastIDs [4]int64 // the highest ID in each of petTables; 0 if there is none

	LastMessage int64 // the highest number of a message that was issued
	Queued      int64 // messages in the queue
}

// readState reads the state from the bucket of stateTable.
func readState(b bucket) (state, error) {
	body, err := b.open(stateKey, b.Get(stateKey))
	if err != nil {
		return state{}, err
	}
	return openState(body)
}

// openState returns the state in the body of its record.
func openState(body []byte) (s state, err error) {
	if version := int64At(body); version != schema { // no release has a lower one
		return s, fmt.Errorf("%w: its schema is version %d, and this one knows %d", ErrNewer, version, schema)
	}
	_, err = binary.Decode(body, binary.BigEndian, &s)
	return s, err
}
