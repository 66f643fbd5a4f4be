package storage

import (
	"errors"
	"fmt"
)

// The newer of two meta pages leads to the last commit. If that page is
// damaged, the older one leads to the commit before, and what was stored last
// is lost without a trace. So the state says whether the file was closed
// cleanly. If it was, both meta pages lead to the same state, and either is
// enough. Otherwise a file with one invalid meta page is refused.

// ErrUndecided says that a file was not closed cleanly and that one of its
// two meta pages is damaged: what was stored last may be missing from it.
// [AcceptOlder] makes the file usable without it.
var ErrUndecided = errors.New("the file was not closed, and the damaged meta page may be that of the last commit")

// ErrSpare says that one of the two meta pages is damaged in a file that was
// closed cleanly. Nothing is lost, and [Open] writes the page again.
var ErrSpare = errors.New("the file was closed cleanly and needs only one meta page")

// judgeInvalid returns what a damaged meta page means, if there is one.
func (s state) judgeInvalid(meta error) error {
	switch {
	case meta == nil:
		return nil
	case s.Closed == 0:
		return fmt.Errorf("%w: %w", ErrUndecided, meta)
	}
	return fmt.Errorf("%w: %w", ErrSpare, meta)
}

// markClosed makes both meta pages lead to the same state, which says that the
// file is closed. It takes two commits, each of which writes one of them.
func (s *Store) markClosed() error {
	for range 2 {
		if err := s.update(func(u *update) error { u.Closed = 1; return nil }); err != nil {
			return err
		}
	}
	return nil
}

// markOpen commits the same state, but not closed, if it is marked as closed.
// That overwrites one meta page. The next commit overwrites the other, and from
// then on neither says that the file is closed.
func (s *Store) markOpen() error {
	if s.lastState.Closed == 0 {
		return nil
	}
	return s.update(func(*update) error { return nil })
}

// judgeMeta decides whether the file can be used. If invalid is not nil, one of
// its meta pages is invalid for that reason, and judgeMeta makes it valid again.
func (s *Store) judgeMeta(invalid error, acceptOlder bool) error {
	err := s.lastState.judgeInvalid(invalid)
	undecided := errors.Is(err, ErrUndecided)
	switch {
	case undecided && !acceptOlder:
		return err
	case acceptOlder && !undecided:
		return errors.New("it can be used as it is; nothing was changed")
	case err == nil:
		return nil
	}
	if err := s.markClosed(); err != nil {
		return err
	}
	s.log.Warn("a damaged meta page was written again", "path", s.path, "damage", invalid)
	return nil
}

// AcceptOlder makes a file usable that [Open] refuses with [ErrUndecided]: it
// keeps the state that the valid meta page leads to. It returns the first pet
// ID and the first message number that are free in that state. Records with
// these and higher numbers may have been acknowledged; they are lost, and their
// IDs are issued again. For any other file AcceptOlder returns an error, and
// does not change it. opts may be nil.
func AcceptOlder(path string, opts *Options) (pet, message int64, err error) {
	o := opts.filled()
	o.MustExist = true
	s, err := open(path, o, true)
	if err != nil {
		return 0, 0, openError(path, err)
	}
	pet, message = s.lastState.lastPet()+1, s.lastState.LastMessage+1
	return pet, message, s.Close()
}
