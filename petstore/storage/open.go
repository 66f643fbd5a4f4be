package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"example.com/animalstore/petstore/storage/internal/lines"
)

// Open opens the store in the file at path. If the file does not exist, Open makes
// it, with mode 0600, unless MustExist is set. Its directory must exist. opts may be
// nil, for the zero Options.
//
// The file can grow by 16 GiB until it is opened again, and by 48 MiB on Windows and 32-bit
// systems. After that, changes fail with petstore.CodeInsufficientStorage.
//
// Open looks for damage before it trusts the file, and never replaces a file that
// it cannot use. The error names the file and wraps [ErrLocked], [ErrNotPetstore],
// [ErrNewer], [ErrDamaged] or an error of package io/fs.
func Open(path string, opts *Options) (*Store, error) {
	s, err := open(path, opts.withDefaults())
	if errors.Is(err, ErrDamaged) {
		err = fmt.Errorf("%w; import a backup", err)
	}
	if err != nil {
		return nil, fileError("opening", path, err)
	}
	return s, nil
}

// fileError adds to err, unless it is nil, what was done and the name of the store.
func fileError(what, path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*fs.PathError)): // has the name
		return fmt.Errorf("%s the store: %w", what, err)
	}
	return fmt.Errorf("%s the store %s: %w", what, path, err)
}

func open(path string, o Options) (*Store, error) {
	path, err := filepath.Abs(path) // the working directory may change
	if err != nil {
		return nil, err
	}
	s := &Store{
		opts:      o,
		path:      path,
		changes:   make(chan *change, maxWaiting),
		committer: make(chan struct{}, 1),
		failed:    make(chan struct{}),
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && !o.MustExist {
		// If another process has made a file there meanwhile, that one is opened.
		_, err := makeStore(path, func() (lines.Record, error) { return lines.Record{}, io.EOF })
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	if err := s.openFile(); err != nil {
		return nil, err
	}
	first, err := s.beginSnapshot(nil)
	if err != nil {
		_ = s.closeFile()
		return nil, err
	}
	s.published.Store(first)
	return s, nil
}

// openFile sets s.file, s.info and s.db.
func (s *Store) openFile() (err error) {
	if s.file, err = openLocked(s.path, os.O_RDWR); err != nil {
		return err
	}
	err = s.file.Sync() // a process that was killed may have left a commit that is not on disk yet
	var m meta
	if err == nil {
		m, err = inspect(s.file)
	}
	if err == nil {
		s.info, err = s.file.Stat()
	}
	if err == nil {
		err = s.mapFile(min(m.size()+reserve, math.MaxInt))
	}
	if err != nil {
		unlockAndClose(s.file)
	}
	return err
}
