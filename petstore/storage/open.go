package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"example.com/animalstore/internal/newfile"
)

// reserve is how many bytes a file can grow while it is open. Open maps so many more than
// the file has: bbolt can map more later only while no read is open, and the published
// snapshot is always open. Addresses cost nothing on most systems. Tests set it to little.
var reserve = func() int64 {
	switch {
	case runtime.GOOS == "windows":
		return 2 << 30 // at most: see mapFile
	case strconv.IntSize == 32:
		return minReserve // a process may have many stores
	}
	return 64 << 30
}()

// minReserve is what Open tries last, if addresses are scarce (ulimit -v). bbolt leaves the
// last 16 MiB of it unused.
const minReserve = 64 << 20

// Open opens the store in the file at path. If the file does not exist, Open makes
// it, with mode 0600, unless MustExist is set. Its directory must exist. opts may be
// nil, for the zero Options.
//
// The file can grow by 64 GiB until it is opened again: on 32-bit systems by 48 MiB, on
// Windows by 64 MiB and its size, at most 1 GiB, and by less where addresses are
// scarce. After that, changes fail with petstore.CodeInsufficientStorage.
//
// Open looks for damage before it trusts the file, and never replaces a file that
// it cannot use. The error names the file and wraps [ErrLocked], [ErrNotPetstore],
// [ErrNewer], [ErrDamaged] or an error of package io/fs.
func Open(path string, opts *Options) (*Store, error) {
	s, err := open(path, opts.withDefaults())
	if err != nil {
		return nil, openError(path, err)
	}
	return s, nil
}

// openError adds to err the name of the file and what can be done.
func openError(path string, err error) error {
	if errors.Is(err, ErrDamaged) {
		err = fmt.Errorf("%w; import a backup", err)
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("opening the store: %w", err)
	}
	return fmt.Errorf("opening the store %s: %w", path, err)
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
		if err := newfile.Create(path, writeEmpty); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	grow := reserve
	if o.readOnly {
		grow = 0
	}
	if err := s.openFile(grow); err != nil {
		return nil, err
	}
	first, err := s.beginFirst()
	if err != nil {
		_ = s.closeFile()
		return nil, err
	}
	s.published.Store(first)
	return s, nil
}

// openFile sets s.file, s.info and s.db. If the file cannot be mapped with that reserve,
// openFile tries a smaller one: the system's error for a mapping that is too long may be
// ENOMEM, EINVAL or another.
func (s *Store) openFile(reserve int64) error {
	flag := os.O_RDWR
	if s.opts.readOnly {
		flag = os.O_RDONLY
	}
	f, err := openLocked(s.path, flag)
	if err != nil {
		return err
	}
	if !s.opts.readOnly { // a process that was killed may have left a commit that is not on disk yet
		err = f.Sync()
	}
	var m meta
	if err == nil {
		m, err = inspect(f)
	}
	if err == nil {
		s.info, err = f.Stat()
	}
	if err != nil {
		f.Close()
		return err
	}
	s.file = f
	s.db, err = mapFile(f, m, s.opts.readOnly, reserve)
	if err != nil && reserve/4 >= minReserve {
		return s.openFile(reserve / 4)
	}
	return err
}
