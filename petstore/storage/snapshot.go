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

// beginSnapshot begins a snapshot of the last commit, and makes sure of what all reads rely on:
// the state, and that each table of pets ends where the state says. If committed is not nil, it
// is that commit, and its state and its outcomes must be there: a damaged page may have led bbolt
// to store something where it is not found. Messages are not looked for.
func (s *Store) beginSnapshot(committed *writeTx) (snap *snapshot, err error) {
	tx, err := s.begin(false)
	if err != nil {
		return nil, err
	}
	snap = &snapshot{Tx: tx}
	err = safely(func() (err error) {
		if err := anyTable(func(t table) bool { return tx.Bucket(t.name) != nil }); err != nil {
			return err
		}
		if snap.state, err = readState(tableIn(tx, &stateTable)); err != nil {
			return err
		}
		for i := range petTables {
			snap.pets[i] = tableIn(tx, &petTables[i])
			if _, err := snap.pets[i].lastBlock(snap.LastIDs[i]); err != nil {
				return err
			}
		}
		if committed == nil {
			return nil
		}
		if snap.state != committed.state {
			return damaged("the state that was just stored is missing")
		}
		for _, key := range committed.outcomes {
			if tableIn(tx, &outcomeTable).Get(key) == nil {
				return damaged("an outcome that was just stored is missing")
			}
		}
		return nil
	})
	if err != nil {
		return nil, s.rollback(tx, err)
	}
	return snap, nil
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
