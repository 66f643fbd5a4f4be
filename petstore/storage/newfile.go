package storage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// makeStore makes an empty store at path, whole or not at all. If another
// process has made a file there meanwhile, that file is kept, and made is false.
func makeStore(path string) (made bool, err error) {
	if err := makeDir(filepath.Dir(path)); err != nil {
		return false, err
	}
	err = makeWhole(path, func(f *os.File) error { return writeEmpty(f.Name()) })
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

// makeWhole makes a file at path, whole or not at all: fill writes it under
// another name, and it gets its own after it is synced. The error is
// fs.ErrExist if there is a file already.
func makeWhole(path string, fill func(*os.File) error) error {
	dir := filepath.Dir(path)
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err = fill(f); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	// Link does not replace a file, but Rename does. Some file systems have no
	// links.
	if err = os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return err
	}
	return syncDir(dir)
}

// writeEmpty writes an empty store to the empty file at path.
func writeEmpty(path string) error {
	db, err := bbolt.Open(path, 0o600, boltOptions())
	if err != nil {
		return err
	}
	fill := func(tx *bbolt.Tx) error {
		for _, t := range tables() {
			if _, err := tx.CreateBucketIfNotExists(t.name); err != nil {
				return err
			}
		}
		return state{Schema: schema, Closed: 1}.store(tx)
	}
	// Twice, so that both meta pages lead to the empty store.
	if err = db.Update(fill); err == nil {
		err = db.Update(fill)
	}
	return errors.Join(err, db.Close())
}
