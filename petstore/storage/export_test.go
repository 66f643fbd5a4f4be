package storage

import (
	"errors"
	"runtime"
	"time"

	"go.etcd.io/bbolt"
)

func init() {
	lockTimeout = 10 * time.Millisecond
	if runtime.GOOS != "windows" {
		mapAhead = func() int64 { return 1 << 20 } // so that more must be mapped as files grow
	}
}

// AddMessage adds the n-th message to the queue, which the state does not know.
func AddMessage(tx *bbolt.Tx, n int64) error {
	key := idKey(n)
	return tx.Bucket(queueTable.name).Put(key[:], queueTable.seal(key[:], make([]byte, 8)))
}

// SetSchema makes the file one of schema version 2.
func SetSchema(tx *bbolt.Tx) error {
	b := tx.Bucket(stateTable.name)
	s, err := openState(b.Get(stateKey))
	s.Schema = 2
	return errors.Join(err, s.store(b))
}
