package storage

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"example.com/animalstore/petstore/storage/internal/boltfile"
)

// inspect returns an error if bbolt must not be trusted with the file. spare says
// what is wrong with one of the two meta pages, if the other is valid.
func inspect(f *os.File) (spare, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		return nil, errors.New("it is a directory")
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() == 0:
		return nil, errors.New("the file is empty, which a store never is; restore it from a backup, or remove it to begin with a new store")
	}
	file := boltfile.Open(f, info.Size(), func(e error) { err = cmp.Or(err, e) })
	if err == nil {
		file.Verify()
	}
	return file.Spare, err
}

// scan opens the file at path, which no store may have open, to read it without
// trusting it. Each damage is passed to report. The caller calls close.
func scan(path string, report func(error)) (file *boltfile.File, close func() error, err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s: it is not a regular file", path) // to open it may block forever
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = lockShared(f)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return boltfile.Open(f, info.Size(), report), f.Close, nil
}

// InUse returns [ErrLocked] if a store or another program has the file at path
// open, or why the file cannot be opened. On systems without flock it does not
// notice.
func InUse(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return lockShared(f)
}
