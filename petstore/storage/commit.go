package storage

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"example.com/animalstore/petstore"
)

// What may wait, what one transaction takes, and how long it waits for more. A
// full queue means that the disk is slower than the callers: they are told at
// once, while memory is bounded, instead of each of them waiting its turn for
// ever.
const (
	maxWaiting      = 2048
	maxWaitingBytes = 64 << 20
	maxBatch        = 1024
	maxBatchBytes   = 16 << 20
	maxGather       = 5 * time.Millisecond
)

var errBusy = petstore.Errorf(petstore.CodeUnavailable, "too many changes are waiting to be written")

// write is one caller's change, on its way to the disk.
type write struct {
	apply func(*update) error
	size  int64
	taken atomic.Bool // by a commit, or by a caller that gave up
	err   error       // of apply, or of the transaction; valid once done is closed
	done  chan struct{}
}

// change runs apply in a transaction and returns once that is on disk. An
// apply that returns an error must not have changed anything. size is about
// how many bytes it writes.
//
// If ctx ends first, the change is abandoned, unless it is already being
// written: then change waits for its outcome and returns that.
//
// One of the callers commits, for all that are waiting, while the others wait.
// A separate goroutine would slow down a lone caller: to wake it takes as long
// as a good part of the commit.
func (s *Store) change(ctx context.Context, size int, apply func(*update) error) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	w := &write{apply: apply, size: int64(size), done: make(chan struct{})}
	if err := s.enqueue(w); err != nil {
		return err
	}
	given := ctx.Done()
	for {
		select {
		case <-w.done:
			return w.err
		case s.turn <- struct{}{}:
			s.lead(w)
		case <-s.wedged:
			return s.failure.Load()
		case <-given:
			if w.taken.CompareAndSwap(false, true) {
				return ctx.Err()
			}
			given = nil
		}
	}
}

// lead has the turn: it commits until w is done, and gives the turn back.
func (s *Store) lead(w *write) {
	defer func() { <-s.turn }()
	for {
		select {
		case <-w.done:
			return
		default:
			s.commitNext()
		}
	}
}

func (s *Store) enqueue(w *write) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return errClosed
	}
	if w.size > maxWaitingBytes {
		return petstore.Errorf(petstore.CodeInvalid, "the change must take at most %d bytes when encoded, got %d", maxWaitingBytes, w.size)
	}
	if s.pending.Add(w.size) > maxWaitingBytes {
		s.pending.Add(-w.size)
		return errBusy
	}
	select {
	case s.writes <- w:
		return nil
	default:
		s.pending.Add(-w.size)
		return errBusy
	}
}

// group is what is known of the last commit, and room for the next. It belongs
// to whoever has the turn.
type group struct {
	batch   []*write
	took    time.Duration
	callers int
}

// commitNext commits what is queued, if there is anything. The caller has the
// turn.
func (s *Store) commitNext() {
	g := &s.group
	select {
	case first := <-s.writes:
		g.batch = append(g.batch[:0], first)
	default:
		return
	}
	runtime.Gosched() // on one processor, others that are ready to ask have not been able to
	s.gather()
	begun := time.Now()
	s.commit(g.batch)
	g.took, g.callers = time.Since(begun), len(g.batch)
	clear(g.batch)
}

// gather adds to a batch what has queued up. If there were more callers in the
// last commit it waits for as many, as long as that took: those that it
// answered may be about to come again, and to commit without them would make
// two syncs of one. Where they do not come, fewer are waited for the next
// time: the first that comes alone waits once, and after that no more.
func (s *Store) gather() {
	g := &s.group
	size := g.batch[0].size
	defer func() { s.pending.Add(-size) }()
	var enough <-chan time.Time
	for len(g.batch) < maxBatch && size < maxBatchBytes {
		var w *write
		select {
		case w = <-s.writes:
		default:
			if len(g.batch) >= g.callers {
				return
			}
			if enough == nil {
				enough = time.After(min(g.took, maxGather))
			}
			select {
			case w = <-s.writes:
			case <-enough:
				return
			}
		}
		g.batch = append(g.batch, w)
		size += w.size
	}
}

// commit makes one transaction of batch and tells every caller how it went.
func (s *Store) commit(batch []*write) {
	live := batch[:0]
	for _, w := range batch {
		if w.taken.CompareAndSwap(false, true) {
			live = append(live, w)
		}
	}
	if len(live) == 0 {
		return
	}
	err := s.markOpen()
	if err == nil {
		err = s.update(func(u *update) error {
			for _, w := range live {
				if w.err = w.apply(u); u.err != nil {
					return u.err
				}
				if errors.Is(w.err, ErrDamaged) {
					return w.err
				}
			}
			return u.expire(2 * len(live))
		})
	}
	s.foundDamage(err)
	for _, w := range live {
		if err != nil {
			// Even an answer that stored nothing may rest on what a write
			// before it in the transaction did.
			w.err = err
		}
		close(w.done)
	}
}
