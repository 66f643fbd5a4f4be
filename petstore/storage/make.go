package storage

import (
	"cmp"
	"os"

	"go.etcd.io/bbolt"
)

// makeStore makes a store of the empty file f, and calls fill, unless it is nil, with its
// database. newfile.Create syncs the file afterwards.
func makeStore(f *os.File, fill func(*bbolt.DB) error) error {
	db, err := bbolt.Open(f.Name(), 0, &bbolt.Options{NoStatistics: true, NoSync: true})
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
	if err == nil && fill != nil {
		err = fill(db)
	}
	return cmp.Or(err, db.Close())
}
