package storage

import (
	"bytes"

	"go.etcd.io/bbolt"
)

// NoSync makes commits faster: internal/test/faulttest tests that they survive a power cut.
func (s *Store) NoSync() { s.db.NoSync = true }

// LowerMaxSize lowers the limit to the length of the file.
func (s *Store) LowerMaxSize(n int) { s.db.MaxSize = min(n, s.db.MaxSize) }

// Hold lets changes wait until release is called.
func (s *Store) Hold() (release func()) {
	s.committer <- struct{}{}
	return func() { <-s.committer }
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
