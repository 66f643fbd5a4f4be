package storage

import (
	"bytes"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

func init() {
	maxPart, maxImport = 2<<10, 256<<10
	bbolt.DefaultOptions.NoSync = true // internal/test/faulttest tests what is synced
}

// SetReserve sets how much a file can grow while it is open, until the test ends.
func SetReserve(t testing.TB, n int64) {
	old := reserve
	reserve = n
	t.Cleanup(func() { reserve = old })
}

// WithClock returns options with a clock.
func WithClock(now func() time.Time, queueCapacity int) *Options {
	return &Options{now: now, QueueCapacity: queueCapacity}
}

// SetSchema makes the file one of the next schema version.
func SetSchema(tx *bbolt.Tx) error {
	b := bucket{&stateTable, tx.Bucket(stateTable.name)}
	body, err := b.open(stateKey, bytes.Clone(b.Get(stateKey)))
	if err != nil {
		return err
	}
	body[7] = schema + 1
	return b.put(stateKey, body)
}
