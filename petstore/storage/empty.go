package storage

import (
	"errors"
	"os"

	"go.etcd.io/bbolt"
)

// writeEmpty makes an empty store of the empty file f.
func writeEmpty(f *os.File) error {
	db, err := bbolt.Open(f.Name(), 0o600, boltOptions())
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for _, t := range tables {
			if _, err := tx.CreateBucket(t.name); err != nil {
				return err
			}
		}
		empty := state{Schema: schema}
		return empty.store(tableIn(tx, &stateTable))
	})
	return errors.Join(err, db.Close())
}
