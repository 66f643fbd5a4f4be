package storage

import (
	"context"
	"errors"
	"runtime"
	"time"

	"example.com/animalstore/petstore"
)

// The path of a create.
//
// A change is what one caller wants. A batch is the changes that one transaction of bbolt
// commits (writeTx). A snapshot is a read transaction that all reads use until the next
// batch is on disk.
//
//	CreatePet            pet.go          validate the pet
//	└ update             commit.go       queue the change; one of the callers commits for all
//	  └ commitWaiting    commit.go       take the changes that wait: a batch
//	    └ commit         commit.go       in one transaction, for all of the batch:
//	      ├ sameFile     file.go         make sure that the file is still the one at its path
//	      ├ beginWrite   transaction.go  make sure that nothing else has written to the file
//	      ├ once         outcome.go      look up and store the outcome, if there is a key
//	      ├ addPet       pet.go          encode the pet, and add it to the last blocks in memory (tail)
//	      ├ store        transaction.go  store these blocks and the state
//	      ├ Commit       bbolt           write and sync the pages, then the meta page
//	      ├ beginSnapshot snapshot.go    begin a snapshot, and make sure that the pets are found in it
//	      └ publish      snapshot.go     all reads use it from now on
//	← CreatePet                          every caller in the batch returns
//
// If Commit fails, commitError (failure.go) decides what has become of the batch. If
// beginSnapshot finds damage, nothing is published, and all changes are refused from then on. A
// read uses the snapshot that was published last (view, in snapshot.go), so no read goes back in
// time.

// maxWaiting is how many changes may wait, and how many a transaction takes. If more
// wait, the disk is slower than the callers. Further changes are then refused at once,
// so memory is bounded and no caller waits forever.
const maxWaiting = 1024

// maxBatchWait limits how long a transaction waits for more changes where commits are
// slow: callers that call again do so soon.
const maxBatchWait = 5 * time.Millisecond

var errBusy = petstore.Errorf(petstore.CodeUnavailable, "too many changes are waiting to be written")

// change is what one caller wants.
type change struct {
	apply func(*writeTx) error
	err   error         // valid once done is closed
	done  chan struct{} // closed when the change is on disk, or was refused, repeated or has failed
}

// update runs apply in a transaction and returns when that transaction is on disk, or when it
// has nothing to write.
//
// If apply returns an error with petstore.CodeInternal, the whole transaction fails. If
// it returns any other error, only the caller of update gets it: then apply must not have
// changed anything.
//
// The call waits in a queue for at most two commits. While it waits, the end of ctx does
// not end the call, so that its result is known.
//
// One of the callers, the committer, commits the changes of all that wait. If a goroutine of
// its own did so, a caller that is alone would wait until it wakes, which takes a large part
// of the time of a commit.
func (s *Store) update(ctx context.Context, apply func(*writeTx) error) error {
	if _, err := s.latest(ctx); err != nil {
		return err
	}
	c := &change{apply: apply, done: make(chan struct{})}
	select {
	case s.changes <- c:
	default:
		return errBusy
	}
	select {
	case <-c.done: // another caller was the committer
	case s.committer <- struct{}{}:
		defer func() { <-s.committer }()
		s.commitWaiting() // which commits c too, unless an earlier committer has
	}
	return c.err
}

// commitWaiting commits the changes that wait. The caller is the committer.
func (s *Store) commitWaiting() {
	batch := s.takeBatch()
	if len(batch) == 0 {
		return
	}
	start := time.Now()
	err := s.commit(batch)
	s.lastBatch, s.lastTook = len(batch), time.Since(start)
	if errors.Is(err, ErrDamaged) {
		defer s.foundDamage(err) // calls a Logger, for which no caller waits
	}
	for _, c := range batch {
		if err != nil {
			c.err = err // even if c was refused or repeated: that may depend on a change before it
		}
		close(c.done)
	}
}

// takeBatch takes the changes that wait. If they are fewer than the last batch had, it waits
// for as many: the callers of that batch may be about to call again, and without them one
// sync would become two. To wait longer than a commit takes would gain nothing. A caller
// that comes alone after a large batch waits only once.
func (s *Store) takeBatch() (batch []*change) {
	runtime.Gosched() // on one processor, lets callers that are ready queue their changes
	if len(s.changes) == 0 {
		return nil
	}
	var timeout <-chan time.Time
	for len(batch) < maxWaiting {
		switch {
		case len(s.changes) > 0:
			batch = append(batch, <-s.changes) // which only the committer receives
			continue
		case len(batch) >= s.lastBatch:
			return batch
		case timeout == nil:
			timeout = time.After(min(s.lastTook, maxBatchWait))
		}
		select {
		case c := <-s.changes:
			batch = append(batch, c)
		case <-timeout:
			return batch
		}
	}
	return batch
}

// commit makes the changes of a batch in one transaction, commits it, and publishes the
// result. After an error nothing has changed, or the batch may be on disk; in that case the
// file is damaged or the store has failed, and no change follows. The caller is the
// committer.
func (s *Store) commit(batch []*change) error {
	latest, err := s.latest(context.Background())
	if err != nil {
		return err
	}
	if err := s.sameFile(latest.Size()); err != nil {
		return s.fail(err)
	}
	if e := s.damage.Load(); e != nil {
		return e
	}
	tx, err := s.beginWrite(latest)
	if err != nil {
		return err
	}
	committing := false
	err = safely(func() error {
		for _, c := range batch {
			if c.err = c.apply(tx); petstore.CodeOf(c.err) == petstore.CodeInternal {
				return c.err
			}
		}
		if tx.state == latest.state && len(tx.outcomes) == 0 {
			return nil // all were refused or repeated: there is nothing to write, even on a full disk
		}
		if err := tx.store(); err != nil {
			return err
		}
		committing = true
		return tx.Commit()
	})
	if !committing {
		return s.rollback(tx.Tx, err)
	}
	if err != nil {
		return s.rollback(tx.Tx, s.commitError(err))
	}
	next, err := s.beginSnapshot(tx)
	if errors.Is(err, ErrDamaged) {
		return err // nothing is published, and nothing more is written
	}
	if err != nil {
		return s.fail(err)
	}
	s.publish(next)
	return nil
}
