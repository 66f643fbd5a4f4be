package storage

import (
	"errors"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"example.com/animalstore/petstore/storage/internal/boltfile"
)

// update is a write transaction, with the changes of one or more callers.
type update struct {
	*bbolt.Tx
	buckets buckets
	state
	guard *boltfile.Guard
	now   int64 // nanoseconds since 1970

	// The last blocks of petTables; nil if no pet was added to the table.
	lastBlocks [4]*lastBlock
}

// checkShared checks what every transaction reads and changes, the list of buckets
// and the state, and returns the buckets. To open a file checks only a few of its
// leaves, and any page can be damaged later.
func checkShared(g *boltfile.Guard, tx *bbolt.Tx) (b buckets, err error) {
	g.Reset(tx.Size())
	root := tx.Cursor().Bucket()
	for _, t := range tables {
		if err := g.Check(root, t.name, false); err != nil {
			return b, err
		}
	}
	if b, err = openBuckets(tx); err != nil {
		return b, err
	}
	return b, g.Check(b.state, stateKey, false)
}

// put stores a record, after a check of its page.
func (u *update) put(b *bbolt.Bucket, key, value []byte) error {
	if err := u.guard.Check(b, key, false); err != nil {
		return err
	}
	return b.Put(key, value)
}

// delete deletes a record, after a check of its page and of those beside it,
// and reports whether there was one.
func (u *update) delete(b *bbolt.Bucket, key []byte) (found bool, err error) {
	if err := u.guard.Check(b, key, true); err != nil {
		return false, err
	}
	return b.Get(key) != nil, b.Delete(key)
}

// update runs fn in a write transaction, commits it, and shows the result to
// reads. If update fails, either nothing has changed or the store has failed.
// The caller is the committer.
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
	// wait forever while a snapshot is shown. So a transaction that needs a
	// larger mapping is refused, and repeated after the snapshot is withdrawn.
	s.db.MaxSize = int(s.mapped - 1)
	err := s.transact(fn)
	remap := errors.Is(err, berrors.ErrMaxSizeReached)
	if remap {
		s.show(withdrawn())
		s.db.MaxSize = 0 // no limit
		err = s.transact(fn)
	}
	if err != nil && !remap || s.failure.Load() != nil {
		return err
	}
	// Show a snapshot, even if the change failed after the last one was withdrawn.
	p, e := s.newSnapshot()
	if e == nil && (p.tx.ID() != s.lastCommit || p.state != s.lastState) {
		p.retire()
		e = errOtherCommit
	}
	if e != nil {
		return s.fail(e)
	}
	s.size = p.tx.Size()
	s.mapped = max(s.mapped, mapSize(s.size))
	s.show(p)
	return err
}

// transact runs fn in a write transaction and commits it. Before the commit
// nothing is written, so an error of fn leaves the file as it was.
func (s *Store) transact(fn func(*update) error) error {
	tx, err := s.begin(true)
	if err != nil {
		return err
	}
	u := &update{Tx: tx, guard: s.guard}
	id, committing := tx.ID(), false
	err = safely(func() error {
		if err := u.load(s); err != nil {
			return err
		}
		if err := fn(u); err != nil {
			return err
		}
		if err := u.flush(); err != nil {
			return err
		}
		if err := u.state.store(u.buckets.state); err != nil {
			return err
		}
		committing = true
		return tx.Commit()
	})
	if err == nil {
		s.lastCommit, s.lastState, s.lastSync = id, u.state, tx.Stats().WriteTime
		return nil
	}
	if committing {
		err = s.commitError(err)
	}
	return s.rollback(tx, err)
}

// load loads the state, after a check that nothing else has committed.
func (u *update) load(s *Store) (err error) {
	if u.ID() != s.lastCommit+1 {
		return s.fail(errOtherCommit)
	}
	if u.buckets, err = checkShared(u.guard, u.Tx); err != nil {
		return err
	}
	if u.state, err = openState(u.buckets.state.Get(stateKey)); err != nil {
		return err
	}
	if u.state != s.lastState {
		return s.fail(errOtherCommit)
	}
	u.Closed = 0
	u.readClock(s)
	return nil
}
