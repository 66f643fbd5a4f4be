package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"slices"
	"strings"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"example.com/animalstore/petstore"
)

// fail makes the store refuse everything from now on, because of err.
func (s *Store) fail(err error) error {
	e := &petstore.Error{
		Code:    petstore.CodeUnavailable,
		Message: "the store has failed and must be opened again",
		Err:     fmt.Errorf("%s: %w", s.path, err),
	}
	if s.failure.CompareAndSwap(nil, e) {
		close(s.failed)
	}
	return s.failure.Load()
}

// foundDamage makes the store refuse all changes from now on if err says that
// the file is damaged. The first damage found is logged, and is the cause of
// each refusal.
func (s *Store) foundDamage(err error) {
	if !errors.Is(err, ErrDamaged) || s.failure.Load() != nil {
		return
	}
	e := &petstore.Error{Code: petstore.CodeInternal, Message: "the store is damaged and refuses changes", Err: err}
	if s.damage.CompareAndSwap(nil, e) {
		s.log.Error("damage found: all changes are refused from now on; stop the server, run refserver check, "+
			"and restore a backup or save what is left with refserver export -skip-damaged",
			"path", s.path, "damage", err)
	}
}

// commitError returns what an error of a commit means. If the commit only found
// no space, and has not touched the meta page that would make it valid, the
// change is refused and the store goes on. Otherwise the state on disk is
// unknown, and the store fails.
func (s *Store) commitError(err error) error {
	switch {
	case errors.Is(err, berrors.ErrMaxSizeReached): // before anything was written
		return err
	case noSpace(err) && s.sameMeta() == nil:
		return &petstore.Error{Code: petstore.CodeFull, Message: "there is no room to store this", Err: err}
	}
	return s.fail(err)
}

// begin begins a transaction. It fails only if a meta page is no longer valid:
// then bbolt panics, and keeps its locks.
func (s *Store) begin(write bool) (tx *bbolt.Tx, err error) {
	err = safely(func() (err error) {
		tx, err = s.db.Begin(write)
		return err
	})
	if err != nil {
		return nil, s.fail(err)
	}
	return tx, nil
}

// rollback ends a transaction that failed with err, which it returns.
func (s *Store) rollback(tx *bbolt.Tx, err error) error {
	if e := safely(tx.Rollback); e != nil && !errors.Is(e, berrors.ErrTxClosed) {
		return s.fail(fmt.Errorf("%w (and the transaction cannot be ended: %v)", err, e))
	}
	return err
}

// safely calls fn and makes an error of a panic: bbolt panics on a damaged page,
// and the processor faults on one that is no longer in the file.
func safely(fn func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		p := recover()
		if _, fault := p.(interface{ Addr() uintptr }); fault {
			p = "it was changed or cut short while it was read"
		}
		if p != nil {
			err = damaged("%v", p)
		}
	}()
	return fn()
}

// noSpace reports whether err is of a write or a truncate that found no space.
// An error of a sync never is: after it, the system may have dropped what was
// written.
func noSpace(err error) bool {
	if p, ok := errors.AsType[*fs.PathError](err); ok && p.Op == "write" {
		return slices.ContainsFunc(noSpaceErrors, func(e error) bool { return errors.Is(p.Err, e) })
	}
	// bbolt returns the text of a failed truncate, but not the error.
	text, ok := strings.CutPrefix(err.Error(), "file resize error: ")
	return ok && slices.ContainsFunc(noSpaceErrors, func(e error) bool { return strings.HasSuffix(text, e.Error()) })
}
