package storage

import (
	"errors"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// update is a transaction that several writes share.
type update struct {
	*bbolt.Tx
	state
	guard guard
	now   int64 // nanoseconds since 1970
	err   error // the first failure of the transaction itself

	// The ends of the tables of pets, as far as any were added.
	all      *tail
	byStatus [3]*tail
}

// put changes a record, after a check of its page. If put or delete fails, the
// whole transaction fails, not a single write.
func (u *update) put(b *bbolt.Bucket, key, value []byte) {
	err := u.guard.path(b, key, false)
	if err == nil {
		err = b.Put(key, value)
	}
	u.note(err)
}

// delete deletes a record, after a check of its page, and reports whether there
// was one.
func (u *update) delete(b *bbolt.Bucket, key []byte) (found bool) {
	err := u.guard.path(b, key, true)
	if err == nil {
		found = b.Get(key) != nil
		err = b.Delete(key)
	}
	u.note(err)
	return found
}

func (u *update) note(err error) {
	if u.err == nil {
		u.err = err
	}
}

// update runs fn in a write transaction, commits it, and shows the result to
// reads. If update fails, the file is as it was or the store has failed.
func (s *Store) update(fn func(*update) error) error {
	if e := s.failure.Load(); e != nil {
		return e
	}
	if err := s.sameFile(); err != nil {
		return s.fail(err)
	}
	if e := s.damage.Load(); e != nil {
		return e
	}
	// To map more of the file, bbolt waits until all reads have ended. It would
	// wait forever while a snapshot is shown. So an attempt that needs a larger
	// mapping is refused, and repeated after the snapshot has been withdrawn.
	s.db.MaxSize = int(s.mapped - 1)
	err := s.attempt(fn)
	remap := errors.Is(err, berrors.ErrMaxSizeReached)
	if remap {
		s.show(withdrawn())
		s.db.MaxSize = 0 // no limit
		err = s.attempt(fn)
	}
	if err != nil && !remap || s.failure.Load() != nil {
		return err
	}
	p, e := s.newSnapshot()
	if e != nil {
		return s.fail(e)
	}
	s.size = p.tx.Size()
	s.mapped = max(s.mapped, mapSize(s.size))
	s.show(p)
	return err
}

// attempt runs fn in a write transaction and commits it.
func (s *Store) attempt(fn func(*update) error) error {
	var t attempt
	err := t.run(s, fn)
	if err != nil {
		return s.settle(&t, err)
	}
	s.lastCommit, s.lastState = t.id, t.state
	return nil
}

// attempt is a write transaction, as far as it has come.
type attempt struct {
	tx         *bbolt.Tx
	id         int   // the transaction's
	state      state // that it leaves
	committing bool  // Commit was called
}

func (t *attempt) run(s *Store, fn func(*update) error) (err error) {
	defer recoverDamage(&err)()
	if t.tx, err = s.begin(true); err != nil {
		return err
	}
	if t.id = t.tx.ID(); t.id != s.lastCommit+1 {
		return s.fail(errOtherCommit)
	}
	u := &update{Tx: t.tx, guard: newGuard(s, t.tx), now: s.now().UnixNano()}
	if err := u.guard.begin(t.tx); err != nil {
		return err
	}
	if u.state, err = loadState(t.tx); err != nil {
		return err
	}
	if u.state != s.lastState {
		return s.fail(errOtherCommit)
	}
	u.closed = 0
	if err := fn(u); err != nil {
		return err
	}
	if u.flush(); u.err != nil {
		return u.err
	}
	if err := u.state.store(t.tx); err != nil {
		return err
	}
	t.state = u.state
	t.committing = true
	return t.tx.Commit()
}
