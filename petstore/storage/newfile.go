package storage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// makeStore makes an empty store at path, whole or not at all: it is written
// under another name, and gets its own after it is synced. If another process
// has made a file there meanwhile, that file is kept, and made is false.
func makeStore(path string) (made bool, err error) {
	dir := filepath.Dir(path)
	if err := makeDir(dir); err != nil {
		return false, err
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".new-*") // mode 0600
	if err != nil {
		return false, err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(f.Close(), writeEmpty(f.Name())); err != nil {
		return false, err
	}
	// Link does not replace a file, but Rename does. Some file systems have no
	// links.
	err = os.Link(f.Name(), path)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil {
		err = syncDir(dir)
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
