package storage

import (
	"bytes"
	"time"

	"go.etcd.io/bbolt"
)

// WithClock returns options with a clock. Commits are not synced: internal/test/faulttest tests
// what is.
func WithClock(now func() time.Time, queueCapacity int) *Options {
	return &Options{now: now, QueueCapacity: queueCapacity, noSync: true}
}

// WithReserve returns options with which a file can grow so much while it is open.
func WithReserve(n int64) *Options { return &Options{reserve: n, noSync: true} }

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
