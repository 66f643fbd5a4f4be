package storage

import (
	"cmp"
	"errors"
	"io/fs"
	"os"

	"go.etcd.io/bbolt"

	"example.com/animalstore/petstore/storage/internal/boltfile"
)

// openRegular opens a file, which must be regular: to open another kind may
// block forever.
func openRegular(path string, flag int) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("it is a directory or a device, not a regular file")}
	}
	return os.OpenFile(path, flag, 0)
}

// openShared opens a file for reading and keeps writers away from it. The error
// wraps [ErrLocked] if a writer has it open.
func openShared(path string) (*os.File, error) {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	if err := lockShared(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// inspect returns an error if bbolt must not be trusted with the file. spare says
// what is wrong with one of the two meta pages, if the other is valid.
func inspect(f *os.File) (spare, err error) {
	var damage error
	file, err := boltfile.Open(f, func(err error) { damage = cmp.Or(damage, err) })
	if err != nil {
		return nil, err
	}
	if damage == nil {
		file.Verify(false)
	}
	return file.Spare, damage
}

// scanner reads a file that no store may have open.
type scanner struct {
	*boltfile.File
	file   *os.File
	tables *reader // nil: bbolt must not be trusted with the file
	state  state   // the zero state if it cannot be read
	close  func() error
}

// scan verifies the file at path and, if its pages are sound, opens its tables.
// It passes each damage to report. The error wraps [ErrLocked] or [ErrNewer], or
// says why the file cannot be opened.
func scan(path string, report func(error)) (*scanner, error) {
	f, err := openShared(path)
	if err != nil {
		return nil, err
	}
	s := &scanner{file: f, close: f.Close}
	if s.File, err = boltfile.Open(f, report); err == nil {
		if s.Verify(true); !s.Damaged {
			err = safely(func() error { return s.openTables(f) })
		}
	}
	if errors.Is(err, ErrDamaged) || errors.Is(err, ErrForeign) {
		s.tables = nil
		report(err)
	} else if err != nil {
		_ = s.close()
		return nil, err
	}
	return s, nil
}

func (s *scanner) openTables(f *os.File) error {
	options := boltOptions()
	options.ReadOnly = true
	options.Timeout = lockTimeout
	options.OpenFile = func(string, int, fs.FileMode) (*os.File, error) { return f, nil }
	db, err := bbolt.Open(f.Name(), 0, options)
	if err != nil {
		return err
	}
	tx, err := db.Begin(false)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	s.close = func() error { return errors.Join(tx.Rollback(), db.Close()) }
	p := &snapshot{tx: tx}
	if err := p.load(); err != nil {
		return err
	}
	s.tables, s.state = newReader(p), p.state
	return nil
}
