package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"example.com/animalstore/petstore"
)

// settle ends an attempt that failed with err and decides what it means for
// the store.
//
// Before the commit nothing has been written. During it, if nothing but want
// of space went wrong, and the page that makes a transaction valid has not
// been touched, the file still is what it was: the change is refused and the
// store goes on. Of anything else nobody can say what is on disk, so the store
// fails.
func (s *Store) settle(t *attempt, err error) error {
	if e := rollback(t.tx); e != nil {
		return s.wedge(fmt.Errorf("%w (and the transaction cannot be ended: %v)", err, e))
	}
	if !t.committing {
		return err
	}
	if errors.Is(err, berrors.ErrMaxSizeReached) {
		return err // before anything was written
	}
	if noSpace(err) && s.untouched() == nil {
		return &petstore.Error{Code: petstore.CodeFull, Message: "there is no room to store this", Err: err}
	}
	return s.fail(err)
}

// begin begins a transaction. bbolt panics over meta pages that are no longer
// what they were, and keeps its locks.
func (s *Store) begin(write bool) (tx *bbolt.Tx, err error) {
	returned := false
	defer func() {
		if !returned {
			err = s.wedge(err)
		}
	}()
	defer recoverDamage(&err)()
	tx, err = s.db.Begin(write)
	returned = true
	if errors.Is(err, berrors.ErrDatabaseNotOpen) {
		err = errClosed
	}
	return tx, err
}

// wedge fails the store, with a lock of bbolt's held for ever: whoever waits
// for it, and closing would, waits in vain.
func (s *Store) wedge(err error) error {
	e := s.fail(err)
	s.wedging.Do(func() { close(s.wedged) })
	return e
}

// rollback ends tx, which may not have begun, have ended already or be past
// ending.
func rollback(tx *bbolt.Tx) (err error) {
	if tx == nil {
		return nil
	}
	defer recoverDamage(&err)()
	if err := tx.Rollback(); err != nil && !errors.Is(err, berrors.ErrTxClosed) {
		return err
	}
	return nil
}

// noSpace reports whether err is a write's or a truncate's that found no room.
// A sync's is not among them: after a failed sync the system may have dropped
// what was written, whatever the reason it gives.
func noSpace(err error) bool {
	var p *fs.PathError
	if errors.As(err, &p) && p.Op == "write" {
		for _, e := range noSpaceErrors {
			if errors.Is(p.Err, e) {
				return true
			}
		}
	}
	// bbolt passes on the text of a failed truncate, but not the error.
	if text := err.Error(); strings.HasPrefix(text, "file resize error: ") {
		for _, e := range noSpaceErrors {
			if strings.HasSuffix(text, e.Error()) {
				return true
			}
		}
	}
	return false
}
