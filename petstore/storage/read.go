package storage

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
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
	round   int64            // of readers
	faults  bool             // the goroutine's setting before the call
}

// readers keeps the readers that no call is using, since to begin a
// transaction costs many times what else a read does. They are good until the
// next commit, which none of them shows: it ends them before it is
// acknowledged.
type readers struct {
	mu    sync.Mutex
	idle  []*reader
	held  bool  // none is kept
	round int64 // counts commits
}

// maxIdle bounds the readers kept: more than can run at once are no use.
const maxIdle = 64

// maxHold is how long a commit may be in need of something that an idle reader
// has. To map more of a growing file, which is rare, bbolt waits for all that
// read, and idle ones would be waited for without end.
const maxHold = 50 * time.Millisecond

// commit calls fn, which commits, and then ends the readers of the state
// before: those that are idle now, and the others once they are.
func (p *readers) commit(fn func() error) error {
	p.mu.Lock()
	round := p.round
	p.mu.Unlock()
	defer p.endAll(false)
	defer time.AfterFunc(maxHold, func() { p.hold(round) }).Stop()
	return fn()
}

// hold ends the idle readers and has none kept, if that round still is on.
//
// Each ends on its own and without the lock: bbolt gives up a reader's share
// of the mapping first and then waits for a lock that a new reader may have,
// which waits for the commit, which waits for the shares of all the others.
func (p *readers) hold(round int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.round != round {
		return
	}
	for _, r := range p.next(true) {
		go r.end()
	}
}

// endAll ends the idle readers, and the others once they are idle.
func (p *readers) endAll(held bool) {
	p.mu.Lock()
	idle := p.next(held)
	p.mu.Unlock()
	for _, r := range idle {
		r.end()
	}
}

// next begins a new round and returns the readers that were idle, to be ended.
// The caller holds the lock.
func (p *readers) next(held bool) []*reader {
	idle := p.idle
	p.round++
	p.held = held
	p.idle = nil
	return idle
}

// take returns an idle reader, or nil and the round that a new one is of.
func (p *readers) take() (*reader, int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		r := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return r, 0
	}
	return nil, p.round
}

// keep returns r to the idle ones, and reports whether there was room for it.
func (p *readers) keep(r *reader) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held || r.round != p.round || len(p.idle) == maxIdle {
		return false
	}
	p.idle = append(p.idle, r)
	return true
}

// read begins a read of one state of the file. What is kept of that has to be
// copied. The caller defers done, with the error that it returns.
func (s *Store) read(ctx context.Context) (*reader, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	r, round := s.readers.take()
	if r == nil {
		tx, err := s.db.Begin(false)
		if errors.Is(err, berrors.ErrDatabaseNotOpen) {
			return nil, errClosed
		} else if err != nil {
			return nil, err
		}
		r = &reader{readers: &s.readers, tx: tx, round: round}
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
