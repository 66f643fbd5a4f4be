package storage

import (
	"errors"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

func init() {
	lockTimeout = 10 * time.Millisecond
	bbolt.DefaultOptions.NoSync = true // internal/faulttest tests what is synced
}

// SetReserve sets how much a file can grow while it is open, until the test ends.
func SetReserve(t testing.TB, n int64) {
	old := reserve
	reserve = n
	t.Cleanup(func() { reserve = old })
}

// SetSchema makes the file one of schema version 2.
func SetSchema(tx *bbolt.Tx) error {
	b := bucket{&stateTable, tx.Bucket(stateTable.name)}
	s, err := readState(b)
	s.Schema = 2
	return errors.Join(err, s.store(b))
}
