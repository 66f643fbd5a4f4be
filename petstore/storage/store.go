package storage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"example.com/animalstore/petstore"
)

// Store is an open file. It is safe for concurrent use.
//
// Once a Store has found damage, it refuses changes but still serves reads. A
// Store that has failed (see [Store.Failed]) refuses everything.
type Store struct {
	db       *bbolt.DB
	path     string
	found    Info
	file     *os.File    // bbolt's handle on it
	info     os.FileInfo // the open file, to tell it from another at its path
	log      *slog.Logger
	now      func() time.Time
	capacity int64 // of the message queue

	shown   atomic.Pointer[snapshot] // what reads see; nil: the store is closed
	readers sync.Pool                // of *reader

	writes  chan *write
	pending atomic.Int64  // bytes in writes
	turn    chan struct{} // to commit: has room for one

	// Only the goroutine that has the turn uses these.
	group      group
	lastCommit int   // the ID of its transaction
	lastState  state // that it left
	size       int64 // of what it left of the file, in bytes
	mapped     int64 // how many bytes of the file bbolt has mapped, at least
	clean      bool  // both meta pages say that the file is closed; see markClosed

	mu      sync.RWMutex // held for reading while a write is sent
	closed  bool
	closing chan struct{} // closed when closed is set

	damage  atomic.Pointer[petstore.Error] // why changes are refused; nil if they are not
	failure atomic.Pointer[petstore.Error]
	failed  chan struct{}
	wedged  chan struct{} // closed when bbolt can no longer be used, not even be closed
	wedging sync.Once
}

var (
	_ petstore.Service       = (*Store)(nil)
	_ petstore.EncodedReader = (*Store)(nil)
	_ petstore.Messages      = (*Store)(nil)
	_ petstore.Queue         = (*Store)(nil)
	_ petstore.Statistics    = (*Store)(nil)
)

// errClosed is what every call on a closed store gives.
var errClosed = petstore.Errorf(petstore.CodeUnavailable, "the store is closed")

// Close finishes the creations that were accepted, waits for the calls that
// are reading, and closes the file. Later calls fail with
// petstore.CodeUnavailable; closing again does nothing. The error is
// [Store.Err]'s, if the store had failed before.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.closing)
	s.mu.Unlock()

	select {
	case s.turn <- struct{}{}: // and keep it
		for len(s.writes) > 0 {
			s.commitNext()
		}
		if !s.clean {
			_ = s.markClosed() // on a full disk, the file stays as after a crash
		}
	case <-s.wedged:
	}
	s.show(nil)
	return errors.Join(s.Err(), s.closeFile())
}

// closeFile closes the file, unless that would have to be waited for for ever.
func (s *Store) closeFile() error {
	select {
	case <-s.wedged:
		return nil
	default:
		return s.db.Close()
	}
}

// Failed is closed when the store no longer knows what is on disk, after a
// write or a sync that failed for another reason than want of space. From then
// on every call fails with petstore.CodeUnavailable, until the file is closed
// and opened again. Nothing is logged: whoever waits for this says so, with
// what [Store.Err] tells.
func (s *Store) Failed() <-chan struct{} { return s.failed }

// Err says why the store has failed; nil if it has not.
func (s *Store) Err() error {
	if e := s.failure.Load(); e != nil {
		return e.Err
	}
	return nil
}

// fail makes the store refuse everything from now on, because of err.
func (s *Store) fail(err error) *petstore.Error {
	e := &petstore.Error{
		Code:    petstore.CodeUnavailable,
		Message: "the store has failed and has to be opened again",
		Err:     fmt.Errorf("%s: %w", s.path, err),
	}
	if s.failure.CompareAndSwap(nil, e) {
		close(s.failed)
	}
	return s.failure.Load()
}

// usable tells why nothing can be done now, if so.
func (s *Store) usable(ctx context.Context) error {
	if e := s.failure.Load(); e != nil {
		return e
	}
	return ctx.Err()
}

// Stats implements petstore.Statistics.
func (s *Store) Stats(ctx context.Context) (petstore.Stats, error) {
	var stats petstore.Stats
	err := s.view(ctx, func(r *reader) error {
		stats = petstore.Stats{Pets: r.state.lastPet, QueuedMessages: r.state.queued}
		return nil
	})
	return stats, err
}
