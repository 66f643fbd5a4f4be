package storage

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/internal/boltfile"
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
	info     os.FileInfo // of file, which may no longer be the one at path
	log      *slog.Logger
	now      func() time.Time
	capacity int64 // of the message queue

	committed func(changes int, sync time.Duration) // never nil

	opened      time.Time // when the file was opened
	openedClock int64     // state.Clock then

	current atomic.Pointer[snapshot] // what reads see; nil: the store is closed
	readers sync.Pool                // of *reader

	writes       chan *write
	waitingBytes atomic.Int64  // in writes
	committer    chan struct{} // holds a value while a goroutine is the committer

	// Only the committer uses these.
	lastCommit int           // the ID of the last transaction
	lastState  state         // that it left
	lastSync   time.Duration // how long it took to write and sync it
	lastBatch  int           // how many writes it had
	lastTook   time.Duration // how long it took
	size       int64         // the bytes of the file that its state uses
	mapped     int64         // how many bytes of the file are mapped, at least
	guard      *boltfile.Guard

	closeMu sync.RWMutex  // held for reading while a write is sent
	closing chan struct{} // closed by Close

	damage  atomic.Pointer[petstore.Error] // why changes are refused; nil if they are not
	failure atomic.Pointer[petstore.Error] // why everything is refused; nil if it is not
	failed  chan struct{}                  // closed when failure is set
}

var (
	_ petstore.Service       = (*Store)(nil)
	_ petstore.EncodedReader = (*Store)(nil)
	_ petstore.Messages      = (*Store)(nil)
	_ petstore.Queue         = (*Store)(nil)
	_ petstore.Statistics    = (*Store)(nil)
)

var errClosed = petstore.Errorf(petstore.CodeUnavailable, "the store is closed")

// Close commits the changes that were accepted, waits for the calls that are
// reading, and closes the file. Later calls fail with
// petstore.CodeUnavailable; another Close does nothing. If the store has failed,
// Close returns the error of [Store.Err].
func (s *Store) Close() error {
	s.closeMu.Lock()
	if isClosed(s.closing) {
		s.closeMu.Unlock()
		return nil
	}
	close(s.closing)
	s.closeMu.Unlock()

	s.committer <- struct{}{} // it stays there: nothing is committed after this
	for len(s.writes) > 0 {
		s.commitNext()
	}
	if s.lastState.Closed == 0 {
		_ = s.markClosed() // if the disk is full, the file stays as after a crash
	}
	return errors.Join(s.Err(), s.closeFile())
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// closeFile ends reading and closes the file. The caller is the committer.
func (s *Store) closeFile() error {
	s.show(nil)
	if s.Err() != nil {
		return s.file.Close() // bbolt may hold a lock forever, on which its Close would wait
	}
	return s.db.Close()
}

// Failed returns a channel that is closed when a write or a sync has failed for
// another reason than lack of space, or when something else has changed the
// file. The store then no longer knows what is on disk, and every call fails
// with petstore.CodeUnavailable until the file is closed and opened again. The
// store does not log this; [Store.Err] returns the reason.
func (s *Store) Failed() <-chan struct{} { return s.failed }

// Err returns why the store has failed; nil if it has not.
func (s *Store) Err() error {
	if e := s.failure.Load(); e != nil {
		return e.Err
	}
	return nil
}

// usable returns why a call cannot begin now, nil if it can.
func (s *Store) usable(ctx context.Context) error {
	if e := s.failure.Load(); e != nil {
		return e
	}
	return ctx.Err()
}

// Stats implements petstore.Statistics.
func (s *Store) Stats(ctx context.Context) (stats petstore.Stats, err error) {
	err = s.view(ctx, func(r *reader) error {
		stats = petstore.Stats{Pets: r.state.lastPet(), QueuedMessages: r.state.Queued}
		return nil
	})
	return stats, err
}

// Info describes the file as [Open] found it.
type Info struct {
	Path   string // absolute
	New    bool   // Open made the file
	Pets   int64  // how many pets the file held
	Schema int    // version of the file's layout
}

// Info returns what Open found.
func (s *Store) Info() Info { return s.found }
