package postgres

import (
	"cmp"
	"context"
	"time"

	"example.com/animalstore/petstore"
)

// maxWaiting is how many changes may wait, and how many a transaction takes. If more
// come, the database is slower than the callers, and they are refused at once.
const maxWaiting = 1024

// change is what one caller wants: one of the first three. A batch is the changes that one
// transaction commits.
type change struct {
	pet     *petstore.NewPet
	message *string
	remove  []int64 // numbers of messages

	digest []byte // of the idempotency key; nil: none
	hash   []byte // SHA-256 of the value, if there is a key

	// Guarded by Store.mu.
	sent      bool  // COMMIT may have been sent, so c may be stored
	abandoned bool  // the caller does not wait any more
	cause     error // of the last attempt, which failed

	// Results. They are valid once done is closed.
	done   chan struct{}
	number int64     // the pet's ID or the message's number
	made   time.Time // when it was created
	err    error
}

var errBusy = petstore.Errorf(petstore.CodeUnavailable, "too many changes are waiting to be written")

// update queues c, and returns once it is committed, or with an error.
//
// If ctx ends before COMMIT is sent, nothing is stored. After that, the error says that
// the change may have been stored.
func (s *Store) update(ctx context.Context, c *change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.done = make(chan struct{})
	if err := s.enqueue(c); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	select {
	case <-c.done:
		return c.err
	case <-limited.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.abandoned = true
	if c.sent {
		return unavailable("the database does not respond in time: this may have been stored", cmp.Or(ctx.Err(), c.cause))
	}
	return cmp.Or(ctx.Err(), unavailable("the database does not respond in time: nothing was stored", c.cause))
}

func (s *Store) enqueue(c *change) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	select {
	case s.queue <- c:
		return nil
	default:
		return errBusy
	}
}

// mark notes whether COMMIT may have been sent for the changes of a batch, and the error
// of the last attempt. It returns those that a caller still waits for.
func (s *Store) mark(batch []*change, sent bool, cause error) (waiting []*change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range batch {
		if c.sent, c.cause = sent, cause; !c.abandoned {
			waiting = append(waiting, c)
		}
	}
	return waiting
}

// take waits for changes and takes those of the next transaction. It
// returns none when the store is closed and nothing is waiting.
func (s *Store) take() (batch []*change) {
	for c := range s.queue {
		batch = append(batch, c)
		if len(batch) == maxWaiting || len(s.queue) == 0 {
			break
		}
	}
	return batch
}

// commitAll commits until the store is closed and nothing is waiting. Each
// transaction takes what has queued up during the one before, so a lone caller
// never waits for others, and many callers share a transaction.
//
// It is a goroutine. In package storage one of the callers commits, because a commit there
// is so short that waking a goroutine is a large part of it. Here a commit is two round
// trips, and a caller may leave while it is tried again.
func (s *Store) commitAll() {
	defer close(s.drained)
	for batch := s.take(); len(batch) > 0; batch = s.take() {
		s.commit(batch)
	}
}
