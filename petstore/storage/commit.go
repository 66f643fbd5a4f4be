package storage

import (
	"context"
	"errors"
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
	over    bool          // the change is on disk or has failed; only the committer uses it
	err     error         // valid once done is closed
	done    chan struct{} // closed when over is set
}

// change runs apply in a transaction and returns once that is on disk. apply
// writes about size bytes. If it returns an error that is not the caller's fault
// (petstore.CodeInternal), the whole transaction fails. Before it returns any other
// error, it must not have changed anything.
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
	if size > maxWaitingBytes {
		return petstore.Errorf(petstore.CodeInvalid, "the change must take at most %d bytes when encoded, got %d", maxWaitingBytes, size)
	}
	w := &write{apply: apply, size: int64(size), done: make(chan struct{})}
	if s.waitingBytes.Add(w.size) > maxWaitingBytes {
		return s.refuse(w)
	}
	select {
	case s.writes <- w:
	default:
		return s.refuse(w)
	}
	cancelled, closed := ctx.Done(), s.closed
	for {
		var err error
		select {
		case <-w.done:
			return w.err
		case s.committer <- struct{}{}:
			for !w.over {
				s.commitWaiting()
			}
			<-s.committer
			return w.err
		case <-cancelled:
			cancelled, err = nil, ctx.Err()
		case <-closed:
			closed, err = nil, errClosed
		}
		if w.claimed.CompareAndSwap(false, true) {
			return err
		}
	}
}

// refuse refuses w because too much is waiting. If all who wait have given up, no one
// is left to commit; then the caller empties the queue.
func (s *Store) refuse(w *write) error {
	s.waitingBytes.Add(-w.size)
	select {
	case s.committer <- struct{}{}:
		s.commitWaiting()
		<-s.committer
	default:
	}
	return errBusy
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

// commitWaiting commits the writes that are waiting. The caller is the committer.
func (s *Store) commitWaiting() {
	batch := s.nextBatch()
	if len(batch) == 0 {
		return
	}
	start := time.Now()
	err := s.commit(batch)
	if err != nil {
		s.foundDamage(err)
	}
	for _, w := range batch {
		if err != nil {
			w.err = err // even if it changed nothing: it may depend on a write before it
		}
		w.over = true
		close(w.done)
	}
	s.lastBatch, s.lastTook = len(batch), time.Since(start)
}

// update is a write transaction, with the changes of one or more callers.
type update struct {
	*transaction
	lastBlocks [4]block // of petTables, with the pets that were added
	keys       [][]byte // of the outcomes that were added
	now        int64    // nanoseconds since 1970
}

// commit makes the changes of a batch in one transaction, commits it, and shows the
// result to reads. If it fails, nothing has changed, or no further change is made: the
// file is damaged, or the store has failed. The caller is the committer.
func (s *Store) commit(batch []*write) error {
	if e := s.failure.Load(); e != nil {
		return e
	}
	shown := s.current.Load()
	if err := s.sameFile(shown.Size()); err != nil {
		return s.fail(err)
	}
	if e := s.damage.Load(); e != nil {
		return e
	}
	t, err := s.begin(true)
	if err != nil {
		return err
	}
	if t.state != shown.state {
		return s.rollback(t.Tx, s.fail(errOtherCommit))
	}
	now := s.Now()
	u := &update{transaction: t, lastBlocks: shown.lastBlocks, now: now.UnixNano()}
	u.Clock = max(u.Clock, s.openedClock+int64(now.Sub(s.opened)))
	committing := false
	err = safely(func() error {
		for _, w := range batch {
			if w.err = w.apply(u); petstore.CodeOf(w.err) == petstore.CodeInternal {
				return w.err
			}
		}
		if len(batch) > 0 && u.expired(u.RecentSince) {
			if err := u.expire(4 * len(batch)); err != nil { // more than were added: at most one by each write
				return err
			}
		}
		for i := range u.lastBlocks {
			if u.LastIDs[i] == shown.LastIDs[i] {
				continue
			}
			if err := u.lastBlocks[i].put(u.pets[i]); err != nil {
				return err
			}
		}
		if err := u.state.store(u.counters); err != nil {
			return err
		}
		committing = true
		return u.Commit()
	})
	if err != nil {
		if committing {
			err = s.commitError(err)
		}
		return s.rollback(t.Tx, err)
	}
	p, err := s.newSnapshot(u.keys)
	if err == nil && p.state != u.state {
		err = s.rollback(p.Tx, errOtherCommit)
	}
	if errors.Is(err, ErrDamaged) {
		return err // nothing is shown, and nothing more is written
	} else if err != nil {
		return s.fail(err)
	}
	s.show(p)
	if len(batch) > 0 {
		s.Committed(len(batch), t.Stats().WriteTime)
	}
	return nil
}
