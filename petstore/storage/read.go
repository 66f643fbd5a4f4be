package storage

import (
	"context"
	"runtime/debug"
	"sync/atomic"

	"go.etcd.io/bbolt"
)

// snapshot is a read transaction of one commit, shared by all reads until the
// next commit is on disk. To begin a transaction and to look up its buckets
// costs many times what a read does.
type snapshot struct {
	tx       *bbolt.Tx
	state    state
	pets     *bbolt.Bucket
	status   [3]*bbolt.Bucket // in the order of petstore.Statuses
	users    atomic.Int64     // the reads, and one for the store while it shows the snapshot
	replaced chan struct{}    // closed when the store shows another, or none
}

// newSnapshot begins a read transaction of the last commit. No commit may be
// under way: its meta page can be read before it is known to be on disk.
func (s *Store) newSnapshot() (_ *snapshot, err error) {
	tx, err := s.begin(false)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback()
		}
	}()
	defer recoverDamage(&err)()
	if tx.ID() != s.lastCommit {
		return nil, errOtherCommit
	}
	p := &snapshot{tx: tx, replaced: make(chan struct{})}
	p.users.Store(1)
	if p.state, err = loadState(tx); err != nil {
		return nil, err
	}
	if p.state != s.lastState {
		return nil, errOtherCommit
	}
	for i := range statusTables {
		if p.status[i], err = statusTables[i].bucket(tx); err != nil {
			return nil, err
		}
	}
	p.pets, err = petTable.bucket(tx)
	return p, err
}

// acquire reports whether p can still be used. If so, the caller releases it.
func (p *snapshot) acquire() bool {
	for n := p.users.Load(); n > 0; n = p.users.Load() {
		if p.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
	return false
}

// release ends the transaction after its last use. Ending a read-only
// transaction cannot fail.
func (p *snapshot) release() {
	if p.users.Add(-1) == 0 {
		// Not here: a begin that panicked keeps a lock which this takes.
		go func() { _ = p.tx.Rollback() }()
	}
}

// withdrawn returns a snapshot that cannot be acquired. While it is shown, reads
// wait for the next.
func withdrawn() *snapshot { return &snapshot{replaced: make(chan struct{})} }

// show makes reads use p from now on; nil: the store is closed.
func (s *Store) show(p *snapshot) {
	if old := s.shown.Swap(p); old != nil {
		close(old.replaced)
		old.release()
	}
}

// snapshot returns what the store shows. The caller releases it.
func (s *Store) snapshot(ctx context.Context) (*snapshot, error) {
	for {
		if err := s.usable(ctx); err != nil {
			return nil, err
		}
		p := s.shown.Load()
		if p == nil {
			return nil, errClosed
		}
		if p.acquire() {
			return p, nil
		}
		select {
		case <-p.replaced:
		case <-s.failed:
		case <-ctx.Done():
		}
	}
}

// reader reads a snapshot for one call at a time.
type reader struct {
	*snapshot
	store  *Store
	pets   *bbolt.Cursor
	status [3]*bbolt.Cursor // in the order of petstore.Statuses
	key    [8]byte          // that is being looked for
	faults bool             // the goroutine's setting before the call
}

// read begins a read of one state of the file. What is kept of it must be
// copied. The caller defers done, with the error that it returns.
func (s *Store) read(ctx context.Context) (*reader, error) {
	p, err := s.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	r, _ := s.readers.Get().(*reader) // its cursors have already allocated what they need
	if r == nil || r.snapshot != p {
		r = p.reader(s)
	}
	r.faults = debug.SetPanicOnFault(true)
	return r, nil
}

// reader returns a new reader of p.
func (p *snapshot) reader(s *Store) *reader {
	r := &reader{snapshot: p, store: s, pets: p.pets.Cursor()}
	for i, b := range p.status {
		r.status[i] = b.Cursor()
	}
	return r
}

// done ends a read. A panic of the caller becomes its error: bbolt panics on
// a page that is not what it should be, and the processor faults on one that
// is no longer in the file.
func (r *reader) done(err *error) {
	panicked := recover()
	debug.SetPanicOnFault(r.faults)
	p, s := r.snapshot, r.store
	if panicked != nil {
		*err = damaged("%v", panicked)
	} else {
		s.readers.Put(r)
	}
	p.release()
	s.foundDamage(*err)
}

// view calls fn with a reader.
func (s *Store) view(ctx context.Context, fn func(*reader) error) (err error) {
	r, err := s.read(ctx)
	if err != nil {
		return err
	}
	defer r.done(&err)
	return fn(r)
}

// recoverDamage makes the caller's panics errors, like reader.done. Use:
// defer recoverDamage(&err)().
func recoverDamage(err *error) func() {
	old := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(old)
		if p := recover(); p != nil {
			*err = damaged("%v", p)
		}
	}
}
