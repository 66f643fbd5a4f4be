package storage

import (
	"context"
	"errors"
	"sync"

	"go.etcd.io/bbolt"
)

// snapshot is a read transaction of bbolt, with what each read needs of it. All reads share
// one until the next commit is on disk: to begin it and to look up its buckets takes much
// longer than a read.
type snapshot struct {
	*bbolt.Tx
	state
	pets [4]bucket // of petTables

	// Each read holds it for reading. publish locks it for good after it has published a
	// later snapshot, so a read that cannot have it takes that one.
	reads sync.RWMutex
}

// newSnapshot returns the snapshot of a transaction, without its state.
func newSnapshot(tx *bbolt.Tx) *snapshot {
	snap := &snapshot{Tx: tx}
	for i := range petTables {
		snap.pets[i] = tableIn(tx, &petTables[i])
	}
	return snap
}

// readState reads the state. Then it makes sure that the tables of pets agree with it.
func (snap *snapshot) readState() (err error) {
	if snap.state, err = readState(tableIn(snap.Tx, &stateTable)); err != nil {
		return err
	}
	for i, b := range snap.pets {
		if _, err := b.lastBlock(snap.LastIDs[i]); err != nil {
			return err
		}
	}
	return nil
}

// publish makes reads use next from now on; nil: the store is closed. The snapshot before it
// ends after its last read.
func (s *Store) publish(next *snapshot) {
	old := s.published.Swap(next)
	if old == nil { // only when a store that has failed is closed
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

// latest returns the snapshot that reads use, or why a call cannot begin.
func (s *Store) latest(ctx context.Context) (*snapshot, error) {
	snap := s.published.Load()
	if snap == nil {
		if e := s.failure.Load(); e != nil {
			return nil, e
		}
		return nil, errClosed
	}
	return snap, ctx.Err()
}

// view calls fn with the snapshot that reads use. What fn keeps of a record must be a copy.
func (s *Store) view(ctx context.Context, fn func(*snapshot) error) error {
	snap, err := s.latest(ctx)
	for err == nil && !snap.reads.TryRLock() { // a later one is published
		snap, err = s.latest(ctx)
	}
	if err != nil {
		return err
	}
	defer snap.reads.RUnlock()
	err = safely(func() error { return fn(snap) })
	if errors.Is(err, ErrDamaged) {
		s.foundDamage(err)
	}
	return err
}
