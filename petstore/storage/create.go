package storage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// create makes an empty store at path, whole or not at all. If another process
// has made a file there meanwhile, that file is kept, and made is false.
func create(path string) (made bool, err error) {
	if err := makeDir(filepath.Dir(path)); err != nil {
		return false, err
	}
	err = makeWhole(path, build)
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

// makeWhole makes a file at path, whole or not at all: fill writes and syncs
// it under another name, and it is given its own at the end. The error is
// fs.ErrExist if a file is there already.
func makeWhole(path string, fill func(temporary string) error) error {
	dir := filepath.Dir(path)
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := f.Close(); err != nil {
		return err
	}
	if err := fill(f.Name()); err != nil {
		return err
	}
	// A link, unlike a renaming, does not replace what is there. Where the
	// file system has none, the renaming has to do.
	switch err := os.Link(f.Name(), path); {
	case errors.Is(err, fs.ErrExist):
		return err
	case err != nil:
		if err := os.Rename(f.Name(), path); err != nil {
			return err
		}
	}
	return syncDir(dir)
}

// build writes an empty store to the empty file at path.
func build(path string) error {
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
		meta := tx.Bucket(metaTable.name)
		return errors.Join(
			meta.Put(applicationKey, metaTable.seal(applicationKey, []byte(application))),
			meta.Put(schemaKey, metaTable.seal(schemaKey, appendInt64(nil, schema))),
			tx.Bucket(onceTable.name).Put(lastOnce, outcome{}.seal(lastOnce)),
			state{closed: 1}.store(tx),
		)
	}
	// Twice, so that both meta pages lead to the empty store.
	if err = db.Update(fill); err == nil {
		err = db.Update(fill)
	}
	return errors.Join(err, db.Close())
}
