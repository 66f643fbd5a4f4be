package storage

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"example.com/animalstore/petstore"
)

// The limits of what may wait and of what one transaction takes. If the limits of
// what may wait are reached, the disk is slower than the callers. Further changes
// are then refused at once, so memory is bounded and no caller waits forever.
const (
	maxWaiting      = 2048
	maxWaitingBytes = 64 << 20
	maxBatch        = 1024
	maxBatchBytes   = 16 << 20
	maxBatchWait    = 5 * time.Millisecond
)

var errBusy = petstore.Errorf(petstore.CodeUnavailable, "too many changes are waiting to be written")

// write is the change of one caller.
type write struct {
	apply   func(*update) error
	size    int64
	claimed atomic.Bool   // by the committer, or by the caller that cancels it
	err     error         // valid once done is closed
	done    chan struct{} // closed when the change is on disk or has failed
}

// change runs apply in a transaction and returns once that is on disk. apply
// writes about size bytes. If it returns an error with petstore.CodeInternal, or
// without a code, the transaction fails. It may return other errors if it has
// not changed anything.
//
// If ctx ends before the transaction begins, the change is not made. After that,
// change waits for the result.
//
// One of the callers commits the changes of all, while the others wait. A
// goroutine that commits would slow down a single caller: to wake it takes a
// large part of the time of a commit.
func (s *Store) change(ctx context.Context, size int, apply func(*update) error) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	w := &write{apply: apply, size: int64(size), done: make(chan struct{})}
	if err := s.enqueue(w); err != nil {
		return err
	}
	cancelled := ctx.Done()
	for {
		select {
		case <-w.done:
			return w.err
		case s.committer <- struct{}{}:
			for !isClosed(w.done) {
				s.commitNext()
			}
			<-s.committer
		case <-cancelled:
			if w.claimed.CompareAndSwap(false, true) {
				return ctx.Err()
			}
			cancelled = nil
		}
	}
}

func (s *Store) enqueue(w *write) error {
	if w.size > maxWaitingBytes {
		return petstore.Errorf(petstore.CodeInvalid, "the change must take at most %d bytes when encoded, got %d", maxWaitingBytes, w.size)
	}
	s.closeMu.RLock()
	defer s.closeMu.RUnlock()
	if isClosed(s.closing) {
		return errClosed
	}
	if s.waitingBytes.Add(w.size) <= maxWaitingBytes {
		select {
		case s.writes <- w:
			return nil
		default:
		}
	}
	s.waitingBytes.Add(-w.size)
	return errBusy
}

// commitNext commits the writes that are waiting, in one transaction.
func (s *Store) commitNext() {
	batch := s.nextBatch()
	if len(batch) == 0 {
		return
	}
	start := time.Now()
	err := s.markOpen() // a commit of its own, before the first change
	if err == nil {
		err = s.update(func(u *update) error {
			for _, w := range batch {
				if w.err = w.apply(u); petstore.CodeOf(w.err) == petstore.CodeInternal {
					return w.err
				}
			}
			return u.expire(4 * len(batch)) // each write adds at most one outcome
		})
	}
	s.foundDamage(err)
	if err == nil {
		s.committed(len(batch), s.lastSync)
	}
	for _, w := range batch {
		if err != nil {
			w.err = err // even if it changed nothing: it may depend on a write before it
		}
		close(w.done)
	}
	s.lastBatch, s.lastTook = len(batch), time.Since(start)
}

// nextBatch returns writes that are waiting. If the last batch had more, it waits
// until as many have arrived, but at most as long as the last commit took: the
// callers of that commit may be about to call again, and without them one sync
// would become two. A caller that comes alone after a large batch waits only
// once.
func (s *Store) nextBatch() []*write {
	runtime.Gosched() // on one processor, lets callers that are ready enqueue their writes
	batch := make([]*write, 0, max(1, s.lastBatch))
	var timeout <-chan time.Time
	for size := int64(0); len(batch) < maxBatch && size < maxBatchBytes; {
		var w *write
		select {
		case w = <-s.writes:
		default:
			if len(batch) == 0 || len(batch) >= s.lastBatch {
				return batch
			}
			if timeout == nil {
				timeout = time.After(min(s.lastTook, maxBatchWait))
			}
			select {
			case w = <-s.writes:
			case <-timeout:
				return batch
			}
		}
		s.waitingBytes.Add(-w.size)
		if w.claimed.CompareAndSwap(false, true) {
			batch = append(batch, w)
			size += w.size
		}
	}
	return batch
}
