package storage

import (
	"go.etcd.io/bbolt"
)

// application marks a file as ours.
const application = "petstore"

// schema is the version of the layout that doc.go describes.
const schema = 1

var (
	applicationKey = []byte("application")
	schemaKey      = []byte("schema")
	stateKey       = []byte("state")
)

// state is what is counted rather than looked up. It is one record, read and
// written with what it counts, in one transaction.
type state struct {
	lastPet     int64 // the highest ID given out; IDs are dense, so the number of pets too
	lastMessage int64 // the highest number given to a message
	queued      int64 // messages in the queue

	// last is the highest ID in the table of each status, in the order of
	// petstore.Statuses; 0 if there is none.
	last [3]int64

	// closed is 1 in a file that was closed in good order, otherwise 0. See
	// Store.markClosed.
	closed int64
}

// fields are the counters in the order in which they are stored.
func (s *state) fields() []*int64 {
	return []*int64{&s.lastPet, &s.lastMessage, &s.queued, &s.last[0], &s.last[1], &s.last[2], &s.closed}
}

// stateLen is the length of an encoded state.
const stateLen = 8 * 7

func (s state) encode() []byte {
	b := make([]byte, 0, stateLen+sumLen)
	for _, n := range s.fields() {
		b = appendInt64(b, *n)
	}
	return b
}

func loadState(tx *bbolt.Tx) (state, error) {
	var s state
	meta, err := metaTable.bucket(tx)
	if err != nil {
		return s, err
	}
	b, err := metaTable.open(stateKey, meta.Get(stateKey))
	if err != nil {
		return s, err
	}
	return decodeState(b)
}

func decodeState(b []byte) (state, error) {
	var s state
	if len(b) != stateLen {
		return s, damaged("the counters have %d bytes", len(b))
	}
	for i, n := range s.fields() {
		*n = int64At(b[8*i:])
	}
	return s, nil
}

func (s state) store(tx *bbolt.Tx) error {
	meta, err := metaTable.bucket(tx)
	if err != nil {
		return err
	}
	return meta.Put(stateKey, metaTable.seal(stateKey, s.encode()))
}
