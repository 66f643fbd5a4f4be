package storage

import "go.etcd.io/bbolt"

// application says in the meta table that a file is a store.
const application = "petstore"

// schema is the version of the layout in doc.go.
const schema = 1

var (
	applicationKey = []byte("application")
	schemaKey      = []byte("schema")
	stateKey       = []byte("state")
)

// state is a record in the meta table. Each transaction reads it and stores it
// again, together with what it counts.
type state struct {
	lastMessage int64 // the highest number of a message
	queued      int64 // messages in the queue

	// lastIDs are the highest IDs in each of petTables; 0 if there is none.
	lastIDs [4]int64

	// recent is the index in onceTables of the table that takes new outcomes.
	// It has been that since then, in nanoseconds since 1970.
	recent, since int64

	// onceSums are the sums of the checksums of all records in each of
	// onceTables. Check finds by them that a record is missing.
	onceSums [2]int64

	// closed is 1 in a file that was closed in good order, otherwise 0. See
	// Store.markClosed.
	closed int64
}

// lastPet returns the highest ID. IDs are dense, so this is the number of pets
// too.
func (s *state) lastPet() int64 { return s.lastIDs[0] }

// fields are the counters in the order in which they are stored.
func (s *state) fields() []*int64 {
	return []*int64{
		&s.lastIDs[0], &s.lastIDs[1], &s.lastIDs[2], &s.lastIDs[3], &s.lastMessage, &s.queued,
		&s.recent, &s.since, &s.onceSums[0], &s.onceSums[1], &s.closed,
	}
}

// stateLen is the length of an encoded state.
const stateLen = 8 * 11

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
