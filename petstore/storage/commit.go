package storage

import (
	"context"
	"errors"
	"runtime"
	"time"

	"example.com/animalstore/petstore"
)

// maxWaiting is how many changes may wait, and how many a transaction takes. If more
// wait, the disk is slower than the callers. Further changes are then refused at once,
// so memory is bounded and no caller waits forever.
const maxWaiting = 1024

// maxBatchWait limits how long a transaction waits for more changes where commits are
// slow: callers that call again do so soon.
const maxBatchWait = 5 * time.Millisecond

var errBusy = petstore.Errorf(petstore.CodeUnavailable, "too many changes are waiting to be written")

// update is the transaction that the committer writes with.
type update struct {
	*transaction
	now  int64    // microseconds since 1970
	keys [][]byte // of the outcomes that were added
}

// write is the change of one caller.
type write struct {
	apply func(*update) error
	err   error         // valid once done is closed
	done  chan struct{} // closed when the change is on disk or has failed
}

// change runs apply in a transaction and returns when that transaction is on disk.
//
// If apply returns an error with petstore.CodeInternal, the whole transaction fails. If
// it returns any other error, only the caller of change gets it: then apply must not have
// changed anything.
//
// The call waits in a queue for at most two commits. While it waits, the end of ctx does
// not end the call, so that its result is known.
//
// One of the callers, the committer, commits the changes of all that wait. A goroutine of
// its own that commits would slow down a caller that is alone, because waking it takes a
// large part of the time of a commit.
//
// The channel done tells a caller that its change was committed by another. Without it,
// each caller of a batch would have to become the committer to find out, before those
// that still wait.
func (s *Store) change(ctx context.Context, apply func(*update) error) error {
	if _, err := s.shown(ctx); err != nil {
		return err
	}
	w := &write{apply: apply, done: make(chan struct{})}
	select {
	case s.writes <- w:
	default:
		return errBusy
	}
	select {
	case <-w.done:
	case s.committer <- struct{}{}:
		s.commitWaiting() // and so w, unless that is done
		<-s.committer
	}
	return w.err
}

// commitWaiting commits the writes that are waiting. The caller is the committer.
//
// First it waits for as many as the last batch had: the callers of that batch may be about
// to call again, and without them one sync would become two. To wait longer than a commit
// takes would gain nothing. A caller that comes alone after a large batch waits only once.
func (s *Store) commitWaiting() {
	runtime.Gosched() // on one processor, lets callers that are ready enqueue their writes
	if len(s.writes) == 0 {
		return
	}
	var batch []*write
	timeout := time.After(min(s.lastTook, maxBatchWait))
	for late := false; len(batch) < s.lastBatch && !late; {
		select {
		case w := <-s.writes:
			batch = append(batch, w)
		case <-timeout:
			late = true
		}
	}
	for len(s.writes) > 0 && len(batch) < maxWaiting { // without waiting
		batch = append(batch, <-s.writes)
	}
	start := time.Now()
	err := s.commit(batch)
	if errors.Is(err, ErrDamaged) {
		s.foundDamage(err)
	}
	for _, w := range batch {
		if err != nil {
			w.err = err // even if it changed nothing: it may depend on a write before it
		}
		close(w.done)
	}
	s.lastBatch, s.lastTook = len(batch), time.Since(start)
}

// commit makes the changes of a batch in one transaction, commits it, and shows the
// result to reads. If it fails, nothing has changed, or no further change is made: the
// file is damaged, or the store has failed. The caller is the committer.
func (s *Store) commit(batch []*write) error {
	shown, err := s.shown(context.Background())
	if err != nil {
		return err
	}
	if err := s.sameFile(shown.Size()); err != nil {
		return s.fail(err)
	}
	if e := s.damage.Load(); e != nil {
		return e
	}
	begun, err := s.begin(true, shown.transaction, nil)
	if err != nil {
		return err
	}
	tx := &update{transaction: begun, now: s.opts.now().UnixMicro()}
	committing := false
	err = safely(func() error {
		for _, w := range batch {
			if w.err = w.apply(tx); petstore.CodeOf(w.err) == petstore.CodeInternal {
				return w.err
			}
		}
		if tx.state == shown.state && len(tx.keys) == 0 {
			return nil // all were refused or repeated: there is nothing to write, even on a full disk
		}
		for i := range tx.lastBlocks {
			if tx.LastIDs[i] == shown.LastIDs[i] {
				continue
			}
			if err := tx.lastBlocks[i].put(tx.pets[i]); err != nil {
				return err
			}
		}
		if err := tx.state.store(tx.table(&stateTable)); err != nil {
			return err
		}
		committing = true
		return tx.Commit()
	})
	if !committing {
		return s.rollback(tx.Tx, err)
	} else if err != nil {
		return s.rollback(tx.Tx, s.commitError(err))
	}
	next, err := s.begin(false, tx.transaction, tx.keys)
	if errors.Is(err, ErrDamaged) {
		return err // nothing is shown, and nothing more is written
	} else if err != nil {
		return s.fail(err)
	}
	s.show(&snapshot{transaction: next})
	return nil
}
