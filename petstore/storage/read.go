package storage

import (
	"context"
	"errors"
	"sync"

	"go.etcd.io/bbolt"
)

// snapshot is a read transaction of one commit. All reads share it until the
// next commit is on disk: to begin a transaction and to look up its buckets
// takes much longer than a read.
type snapshot struct {
	tx       *bbolt.Tx
	state    state
	buckets  buckets
	reads    sync.RWMutex  // held for reading by each read, and forever by retire
	replaced chan struct{} // closed when the store shows another snapshot, or none
}

// newSnapshot begins a read transaction of the last commit, which must be on
// disk. The caller is the committer.
func (s *Store) newSnapshot() (*snapshot, error) {
	tx, err := s.begin(false)
	if err != nil {
		return nil, err
	}
	p := &snapshot{tx: tx, replaced: make(chan struct{})}
	if err := safely(p.load); err != nil {
		return nil, s.rollback(tx, err)
	}
	return p, nil
}

// load loads what is not looked up again by each read.
func (p *snapshot) load() (err error) {
	if p.buckets, err = openBuckets(p.tx); err != nil {
		return err
	}
	p.state, err = openState(p.buckets.state.Get(stateKey))
	return err
}

// retire ends the transaction after the last read. Ending a read-only
// transaction cannot fail.
func (p *snapshot) retire() {
	go func() {
		p.reads.Lock()
		_ = p.tx.Rollback() // it may wait forever, for a lock of a begin that panicked
	}()
}

// withdrawn returns a snapshot that cannot be read. While it is shown, reads
// wait for the next.
func withdrawn() *snapshot {
	p := &snapshot{replaced: make(chan struct{})}
	p.reads.Lock()
	return p
}

// show makes reads use p from now on; nil: the store is closed.
func (s *Store) show(p *snapshot) {
	if old := s.current.Swap(p); old != nil {
		close(old.replaced)
		if old.tx != nil {
			old.retire()
		}
	}
}

// snapshot returns the current snapshot. The caller unlocks its reads.
func (s *Store) snapshot(ctx context.Context) (*snapshot, error) {
	for {
		if err := s.usable(ctx); err != nil {
			return nil, err
		}
		p := s.current.Load()
		if p == nil {
			return nil, errClosed
		}
		if p.reads.TryRLock() {
			return p, nil
		}
		select {
		case <-p.replaced:
		case <-s.failed:
		case <-ctx.Done():
		}
	}
}

// reader reads a snapshot for one call at a time. It is reused, with its
// cursors, which would have to be allocated again.
type reader struct {
	*snapshot
	cursors [4]*bbolt.Cursor // of petTables
	key     [8]byte          // for seekBlock, which would have to allocate it
}

func newReader(p *snapshot) *reader {
	r := &reader{snapshot: p}
	for i, b := range p.buckets.pets {
		r.cursors[i] = b.Cursor()
	}
	return r
}

// view calls fn with a reader of the current snapshot. What fn keeps of a
// record must be a copy.
func (s *Store) view(ctx context.Context, fn func(*reader) error) error {
	p, err := s.snapshot(ctx)
	if err != nil {
		return err
	}
	defer p.reads.RUnlock()
	r, _ := s.readers.Get().(*reader)
	if r == nil || r.snapshot != p {
		r = newReader(p)
	}
	if err = safely(func() error { return fn(r) }); errors.Is(err, ErrDamaged) {
		s.foundDamage(err)
		return err
	}
	s.readers.Put(r)
	return err
}
