package storage

import (
	"context"
	"runtime/debug"
	"sync"
	"time"

	"go.etcd.io/bbolt"
)

// reader is a transaction that reads one state of the file, with what most
// reads need of it at hand. It serves one call at a time.
type reader struct {
	readers *readers
	tx      *bbolt.Tx
	state   state
	pets    *bbolt.Cursor
	status  [3]*bbolt.Cursor // in the order of petstore.Statuses
	key     [8]byte          // that is being looked for
	faults  bool             // the goroutine's setting before the call
}

// readers keeps the readers that no call is using, since to begin a
// transaction costs many times what else a read does. All of them show the
// state that was acknowledged last: a commit ends those of the state before.
type readers struct {
	mu    sync.Mutex
	idle  []*reader
	shown int           // the transaction that made the state
	held  bool          // none is kept
	ended chan struct{} // closed at the end of the commit under way; nil if there is none
	timer *time.Timer   // of hold
}

// maxIdle bounds the readers kept: more than can run at once are no use.
const maxIdle = 64

// maxHold is how long a commit may be in need of something that an idle reader
// has. To map more of a growing file, which is rare, bbolt waits for all that
// read, and idle ones would be waited for without end.
const maxHold = 50 * time.Millisecond

// commit calls fn, which commits and returns the transaction's ID, and then
// has reads show what that made.
func (p *readers) commit(fn func() (int, error)) error {
	ended := make(chan struct{})
	p.mu.Lock()
	p.ended = ended
	p.mu.Unlock()
	// It is never stopped: to move it on costs much less than to set it.
	if p.timer == nil {
		p.timer = time.AfterFunc(maxHold, p.hold)
	} else {
		p.timer.Reset(maxHold)
	}
	id, err := fn()
	p.mu.Lock()
	if err == nil {
		p.shown = id
	}
	p.ended, p.held = nil, false
	idle := p.drain()
	p.mu.Unlock()
	close(ended)
	for _, r := range idle {
		r.end()
	}
	return err
}

// hold ends the idle readers and has none kept, if a commit still is on.
//
// Each ends on its own and without the lock: bbolt gives up a reader's share
// of the mapping first and then waits for a lock that a new reader may have,
// which waits for the commit, which waits for the shares of all the others.
func (p *readers) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended == nil {
		return
	}
	p.held = true
	for _, r := range p.drain() {
		go r.end()
	}
}

// close ends the idle readers, and the others once they are idle.
func (p *readers) close() {
	p.mu.Lock()
	p.held = true
	idle := p.drain()
	p.mu.Unlock()
	for _, r := range idle {
		r.end()
	}
}

// drain returns the readers that were idle, to be ended. The caller holds the
// lock.
func (p *readers) drain() []*reader {
	idle := p.idle
	p.idle = nil
	return idle
}

// take returns an idle reader, nil if there is none.
func (p *readers) take() *reader {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	r := p.idle[n-1]
	p.idle = p.idle[:n-1]
	return r
}

// keep returns r to the idle ones, and reports whether there was room for it.
func (p *readers) keep(r *reader) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held || r.tx.ID() != p.shown || len(p.idle) == maxIdle {
		return false
	}
	p.idle = append(p.idle, r)
	return true
}

// shows reports whether reads may show what the transaction with that ID made.
// If not, the channel is closed at the end of the commit that it may be of.
func (p *readers) shows(id int) (bool, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return id <= p.shown, p.ended
}

// snapshot begins a transaction that reads the state that was acknowledged
// last.
//
// A commit is to be seen in the file before it is known to be on disk. What it
// made must not be shown until then: it may yet be lost, and the idle readers,
// which do not show it, would take back what others have told.
func (s *Store) snapshot(ctx context.Context) (*bbolt.Tx, error) {
	tx, err := s.begin(false)
	if err != nil {
		return nil, err
	}
	for {
		shown, ended := s.readers.shows(tx.ID())
		if shown {
			return tx, nil
		}
		if err := s.usable(ctx); err != nil {
			_ = tx.Rollback()
			return nil, err
		}
		select {
		case <-ended:
		case <-s.failed:
		case <-ctx.Done():
		}
	}
}

// read begins a read of one state of the file. What is kept of that has to be
// copied. The caller defers done, with the error that it returns.
func (s *Store) read(ctx context.Context) (*reader, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	r := s.readers.take()
	if r == nil {
		tx, err := s.snapshot(ctx)
		if err != nil {
			return nil, err
		}
		r = &reader{readers: &s.readers, tx: tx}
	}
	r.faults = debug.SetPanicOnFault(true)
	if r.pets == nil {
		if err := r.prepare(); err != nil {
			r.finish(false)
			return nil, err
		}
	}
	return r, nil
}

// prepare looks up what a new reader has at hand.
func (r *reader) prepare() (err error) {
	defer recoverDamage(&err)()
	if r.state, err = loadState(r.tx); err != nil {
		return err
	}
	for i := range statusTables {
		b, err := statusTables[i].bucket(r.tx)
		if err != nil {
			return err
		}
		r.status[i] = b.Cursor()
	}
	pets, err := petTable.bucket(r.tx)
	if err != nil {
		return err
	}
	r.pets = pets.Cursor()
	return nil
}

// done ends a read. A panic of the caller becomes its error: bbolt panics on
// a page that is not what it should be, and the processor faults on one that
// is no longer in the file.
func (r *reader) done(err *error) {
	p := recover()
	if p != nil {
		*err = damaged("%v", p)
	}
	r.finish(p == nil)
}

// finish keeps a reader that is fit to be used again.
func (r *reader) finish(fit bool) {
	debug.SetPanicOnFault(r.faults)
	if !fit || !r.readers.keep(r) {
		r.end()
	}
}

// end ends the transaction. A read-only one always can.
func (r *reader) end() { _ = r.tx.Rollback() }

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
