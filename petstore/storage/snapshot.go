package storage

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"go.etcd.io/bbolt"
)

// transaction is a transaction of bbolt, with what each call needs of it.
type transaction struct {
	*bbolt.Tx
	state
	counters bucket    // of stateTable
	queue    bucket    // of queueTable
	pets     [4]bucket // of petTables
	outcomes [2]bucket // of onceTables
}

// openTables looks up the tables and reads the state. If a table is missing or the
// state is damaged, it returns the others with the error.
func openTables(tx *bbolt.Tx) (t *transaction, err error) {
	t = &transaction{Tx: tx}
	found := false
	open := func(table *table) bucket {
		b := tx.Bucket(table.name)
		if b == nil {
			err = cmp.Or(err, damaged("the bucket %s is missing", table.name))
		}
		found = found || b != nil
		return bucket{table, b}
	}
	t.counters, t.queue = open(&stateTable), open(&queueTable)
	for i := range petTables {
		t.pets[i] = open(&petTables[i])
	}
	for i := range onceTables {
		t.outcomes[i] = open(&onceTables[i])
	}
	if !found {
		return nil, fmt.Errorf("%w, or its root is damaged and it must be restored from a backup", ErrForeign)
	}
	if err == nil {
		t.state, err = readState(t.counters)
	}
	return t, err
}

// begin begins a transaction. bbolt numbers its commits: a write, and the read of what
// it has committed, have the number of the commit that is shown plus 1. Otherwise
// something else has written to the file.
func (s *Store) begin(write bool) (t *transaction, err error) {
	var tx *bbolt.Tx
	err = safely(func() (err error) {
		tx, err = s.db.Begin(write)
		return err
	})
	if err != nil { // no meta page is valid; bbolt keeps its locks
		return nil, s.fail(err)
	}
	if p := s.current.Load(); p != nil && tx.ID() != p.ID()+1 {
		return nil, s.rollback(tx, s.fail(errOtherCommit))
	}
	err = safely(func() (err error) {
		t, err = openTables(tx)
		return err
	})
	if err != nil {
		return nil, s.rollback(tx, err)
	}
	return t, nil
}

// snapshot is a read transaction of one commit. All reads share it until the
// next commit is on disk: to begin a transaction and to look up its buckets
// takes much longer than a read.
type snapshot struct {
	*transaction
	lastBlocks [4]block     // of petTables
	reads      sync.RWMutex // held for reading by each read, and locked for good by show
}

// newSnapshot begins a read transaction of the last commit, which must be on disk. A
// damaged page may have led bbolt to store records where they are not found. So it makes
// sure that the tables of pets end where the state says, and that there are outcomes
// under keys.
func (s *Store) newSnapshot(keys [][]byte) (*snapshot, error) {
	t, err := s.begin(false)
	if err != nil {
		return nil, err
	}
	p := &snapshot{transaction: t}
	err = safely(func() (err error) {
		for i := 0; i < len(petTables) && err == nil; i++ {
			p.lastBlocks[i], err = t.openLastBlock(i)
		}
		for i := 0; i < len(keys) && err == nil; i++ {
			if t.outcomes[0].Get(keys[i]) == nil && t.outcomes[1].Get(keys[i]) == nil {
				err = damaged("an outcome that was just stored is missing")
			}
		}
		return err
	})
	if err != nil {
		return nil, s.rollback(t.Tx, err)
	}
	return p, nil
}

// show makes reads use p from now on; nil: the store is closed. The snapshot before
// ends after its last read.
func (s *Store) show(p *snapshot) {
	old := s.current.Swap(p)
	if old == nil || s.Err() != nil { // after a failure, bbolt may keep its locks
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

// acquire returns the current snapshot. The caller unlocks its reads.
func (s *Store) acquire(ctx context.Context) (*snapshot, error) {
	for {
		if err := s.usable(ctx); err != nil {
			return nil, err
		}
		p := s.current.Load()
		if p == nil {
			return nil, errClosed
		}
		if p.reads.TryRLock() { // otherwise another one is shown
			return p, nil
		}
	}
}

// view calls fn with the current snapshot. What fn keeps of a record must be a copy.
func (s *Store) view(ctx context.Context, fn func(*transaction) error) error {
	p, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer p.reads.RUnlock()
	err = safely(func() error { return fn(p.transaction) })
	s.foundDamage(err)
	return err
}
