package storage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// makeStore makes an empty store at path. If another process has made a file there
// meanwhile, that file is kept, and made is false.
func makeStore(path string) (made bool, err error) {
	if err := makeDir(filepath.Dir(path)); err != nil {
		return false, err
	}
	err = replace(path, func(temp, old *os.File) error {
		if old != nil {
			return fs.ErrExist
		}
		return writeEmpty(temp.Name())
	})
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// makeDir makes a directory, and those above it that do not exist, and syncs
// their parents so that their names are durable.
func makeDir(path string) error {
	parent := filepath.Dir(path)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) || parent == path {
		return err
	}
	if err := makeDir(parent); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(parent)
}

// writeEmpty writes an empty store to the empty file at path, and syncs it.
func writeEmpty(path string) error {
	db, err := bbolt.Open(path, 0o600, boltOptions())
	if err != nil {
		return err
	}
	fill := func(tx *bbolt.Tx) error {
		for _, t := range tables {
			if _, err := tx.CreateBucketIfNotExists(t.name); err != nil {
				return err
			}
		}
		return state{Schema: schema, Closed: 1}.store(tx.Bucket(stateTable.name))
	}
	// Twice, so that both meta pages lead to the empty store.
	if err = db.Update(fill); err == nil {
		err = db.Update(fill)
	}
	return errors.Join(err, db.Close())
}
