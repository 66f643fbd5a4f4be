package storage

import (
	"encoding/binary"
	"fmt"
)

// schema is the version of the layout that table.go describes.
const schema = 3

var stateKey = []byte("state")

// state is the only record of the table petstore. Each commit stores it again, together
// with what it counts.
type state struct {
	Schema int64 // the version of the file's layout

	Pets    int64    // how many there are
	LastPet int64    // the highest ID that was issued; an import may leave out some
	LastIDs [4]int64 // the highest ID in each of petTables; 0 if there is none

	LastMessage int64 // the highest number of a message that was issued
	Queued      int64 // messages in the queue
}

// fields returns the fields in the order in which they are stored. The first one is the
// same in every schema.
func (s *state) fields() [9]*int64 {
	return [9]*int64{
		&s.Schema,
		&s.Pets,
		&s.LastPet,
		&s.LastIDs[0],
		&s.LastIDs[1],
		&s.LastIDs[2],
		&s.LastIDs[3],
		&s.LastMessage,
		&s.Queued,
	}
}

// store stores the state in the bucket of stateTable.
func (s *state) store(b bucket) error {
	fields := s.fields()
	body := make([]byte, 0, 8*len(fields)+sumLen)
	for _, field := range fields {
		body = binary.BigEndian.AppendUint64(body, uint64(*field))
	}
	return b.put(stateKey, body)
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
func openState(body []byte) (state, error) {
	switch {
	case int64At(body) > schema:
		return state{}, fmt.Errorf("%w: its schema is version %d, and this one knows %d", ErrNewer, int64At(body), schema)
	case int64At(body) < schema:
		return state{}, fmt.Errorf("the file has schema %d, which no release has; "+
			"export it with the build that wrote it, and import it", int64At(body))
	}
	var s state
	for i, field := range s.fields() {
		*field = int64At(body[8*i:])
	}
	return s, nil
}
