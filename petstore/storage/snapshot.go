package storage

import (
	"context"
	"errors"
	"sync"
)

// snapshot is a transaction that all reads share until the next commit is on disk: to
// begin it and to look up its buckets takes much longer than a read.
type snapshot struct {
	*transaction
	reads sync.RWMutex // held for reading by each read, and locked for good by show
}

// show makes reads use tx from now on; nil: the store is closed. The snapshot before ends
// after its last read.
func (s *Store) show(tx *snapshot) {
	old := s.current.Swap(tx)
	if old == nil { // the store has failed
		return
	}
	// Without a read there is no need for a goroutine, which takes a quarter of the
	// processor time of a lone create.
	if old.reads.TryLock() {
		_ = old.Rollback() // of a read: it writes nothing
		return
	}
	go func() {
		old.reads.Lock()
		_ = old.Rollback()
	}()
}

// shown returns the snapshot for reads, or why a call cannot begin.
func (s *Store) shown(ctx context.Context) (*snapshot, error) {
	tx := s.current.Load()
	if tx == nil {
		if e := s.failure.Load(); e != nil {
			return nil, e
		}
		return nil, errClosed
	}
	return tx, ctx.Err()
}

// view calls fn with the snapshot for reads. What fn keeps of a record must be a copy.
func (s *Store) view(ctx context.Context, fn func(*transaction) error) error {
	tx, err := s.shown(ctx)
	for err == nil && !tx.reads.TryRLock() { // a later one is shown
		tx, err = s.shown(ctx)
	}
	if err != nil {
		return err
	}
	defer tx.reads.RUnlock()
	err = safely(func() error { return fn(tx.transaction) })
	if errors.Is(err, ErrDamaged) {
		s.foundDamage(err)
	}
	return err
}
