package storage

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	berrors "go.etcd.io/bbolt/errors"

	"example.com/animalstore/petstore"
)

// ErrDamaged is wrapped by every error for damage in the file. Two errors may have damage as
// their cause and do not wrap it: [ErrNotPetstore], and that of a store that has failed because
// the file was changed while it was open ([Store.Failed]).
var ErrDamaged = errors.New("the file is damaged")

// damaged returns an error that wraps ErrDamaged.
func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

var errOtherCommit = errors.New("the last commit in the file is not the last one of this store: " +
	"the file was overwritten or damaged while it was open")

// fail makes the store refuse everything from now on, because of err.
func (s *Store) fail(err error) error {
	e := &petstore.Error{
		Code:    petstore.CodeUnavailable,
		Message: "the store has failed and must be opened again",
		Err:     fmt.Errorf("%s: %w", s.path, err),
	}
	if s.failure.CompareAndSwap(nil, e) {
		s.published.Store(nil) // its transaction is not ended: bbolt may hold a lock that it needs
		close(s.failed)
	}
	return s.failure.Load()
}

// foundDamage makes the store refuse all changes from now on because of the damage err:
// there may be more, and a write may destroy what can still be saved. The first damage
// found is logged, and is the cause of each refusal.
func (s *Store) foundDamage(err error) {
	if s.failure.Load() != nil {
		return
	}
	e := &petstore.Error{Code: petstore.CodeInternal, Message: "the store is damaged and refuses changes", Err: err}
	if s.damage.CompareAndSwap(nil, e) {
		s.opts.Logger.Error("damage found: all changes are refused from now on; stop the server, run refserver check, "+
			"and import a backup or save what is left with refserver export -skip-damaged",
			"path", s.path, "damage", err)
	}
}

// commitError returns what callers get after a commit has failed with err.
//
// A commit ends with its meta page, which has the number of the transaction. If the newest
// meta page in the file still has the number of the snapshot that reads use, the failed commit
// has changed nothing. If there was no space, the batch is refused. If a page was damaged, the
// batch is refused, and so is every later change (see commitWaiting). Otherwise the state on
// disk is unknown, and the store fails.
func (s *Store) commitError(err error) error {
	newest, metaErr := inspect(s.file)
	if metaErr != nil || newest.txid != uint64(s.published.Load().ID()) {
		return s.fail(err)
	}
	noRoom := &petstore.Error{Code: petstore.CodeInsufficientStorage, Message: "there is no room to store this", Err: err}
	switch {
	case errors.Is(err, ErrDamaged):
		return err
	case errors.Is(err, berrors.ErrMaxSizeReached):
		noRoom.Message += " until the store is opened again"
		return noRoom
	case noSpace(err):
		return noRoom
	}
	return s.fail(err)
}

// noSpace reports whether err is of a write or a truncate that found no space.
// An error of a sync never is: after it, the system may have dropped what was
// written.
func noSpace(err error) bool {
	text := err.Error() // bbolt returns no more of a failed truncate
	return (strings.HasPrefix(text, "write ") || strings.HasPrefix(text, "file resize error: ")) &&
		slices.ContainsFunc(noSpaceErrors, func(e error) bool { return strings.HasSuffix(text, e.Error()) })
}
