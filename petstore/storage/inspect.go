package storage

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"

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

// readFile reads the structure of a file without trusting it. It passes each
// damage to report.
func readFile(f *os.File, report func(error)) (*boltfile.File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	sound := true
	file := boltfile.Open(f, info.Size(), func(err error) {
		sound = false
		report(err)
	})
	if sound && !slices.Contains(file.Buckets(), string(stateTable.name)) {
		report(ErrForeign)
	}
	return file, nil
}

// inspect returns an error if bbolt must not be trusted with the file. spare says
// what is wrong with one of the two meta pages, if the other is valid.
func inspect(f *os.File) (spare, err error) {
	var damage error
	file, err := readFile(f, func(err error) { damage = cmp.Or(damage, err) })
	if err != nil || damage != nil {
		return nil, cmp.Or(err, damage)
	}
	file.Verify()
	return file.Spare, damage
}

// scanner reads the records of a file without trusting it. No store may have the
// file open.
type scanner struct {
	*boltfile.File
	f       *os.File
	report  func(error)
	damaged bool  // report was called
	state   state // the zero state if it cannot be read
}

// scan begins to read the file at path. It passes each damage to report. The
// error wraps [ErrLocked] or [ErrNewer], or is of opening the file.
func scan(path string, report func(error)) (_ *scanner, err error) {
	s := &scanner{report: report}
	if s.f, err = openRegular(path, os.O_RDONLY); err != nil {
		return nil, err
	}
	if err = lockShared(s.f); err == nil {
		s.File, err = readFile(s.f, s.found)
	}
	if err == nil && !s.Lost {
		err = s.readState()
	}
	if err != nil {
		s.f.Close()
		return nil, err
	}
	return s, nil
}

func (s *scanner) found(err error) {
	s.damaged = true
	s.report(err)
}

// known reports whether the state could be read.
func (s *scanner) known() bool { return s.state.Schema != 0 }

// readState reads the state. The error is ErrNewer.
func (s *scanner) readState() error {
	err := damaged("the state is missing")
	for key, value := range s.Records(string(stateTable.name)) {
		if bytes.Equal(key, stateKey) {
			s.state, err = openState(value)
		} else {
			s.found(damaged("the record %x of %s is not known", key, stateTable.name))
		}
	}
	if errors.Is(err, ErrNewer) {
		return err
	}
	if err != nil {
		s.found(err)
	}
	return nil
}

// InUse returns [ErrLocked] if a store or another program has the file at path
// open, or why the file cannot be opened. On Windows it does not notice.
func InUse(path string) error {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	return lockShared(f)
}
