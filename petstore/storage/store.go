package storage

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/rules"
)

// Options are the settings of a [Store]. The zero value is ready for use.
type Options struct {
	// Logger receives what an operator should know. nil: nothing is logged.
	Logger *slog.Logger

	// MustExist makes Open fail with fs.ErrNotExist if there is no file.
	// false: Open makes one.
	MustExist bool

	// QueueCapacity is how many messages may be queued at once.
	// 0: 100,000.
	QueueCapacity int
}

// withDefaults returns a copy of o, which may be nil, with defaults for zero fields.
func (o *Options) withDefaults() Options {
	f := *cmp.Or(o, &Options{})
	f.Logger = cmp.Or(f.Logger, slog.New(slog.DiscardHandler))
	f.QueueCapacity = cmp.Or(f.QueueCapacity, rules.QueueCapacity)
	return f
}

// Store is an open file. It is safe for concurrent use.
//
// Once a Store has found damage, it refuses changes but still serves reads. A
// Store that has failed (see [Store.Failed]) refuses everything.
type Store struct {
	opts Options // with defaults
	db   *bbolt.DB
	path string      // absolute
	file *os.File    // bbolt's handle on it
	info os.FileInfo // of file, which may no longer be the one at its path

	published atomic.Pointer[snapshot] // that reads use; nil: the store is closed or has failed

	changes   chan *change  // that wait
	committer chan struct{} // holds a value while a goroutine is the committer
	lastBatch int           // how many changes the last batch had; for the committer
	lastTook  time.Duration // how long it took; for the committer

	closeOnce sync.Once

	damage  atomic.Pointer[petstore.Error] // why changes are refused; nil if they are not
	failure atomic.Pointer[petstore.Error] // why everything is refused; nil if it is not
	failed  chan struct{}                  // closed when failure is set
}

var (
	_ petstore.Service    = (*Store)(nil)
	_ petstore.Messages   = (*Store)(nil)
	_ petstore.Queue      = (*Store)(nil)
	_ petstore.Statistics = (*Store)(nil)
)

var errClosed = petstore.Errorf(petstore.CodeUnavailable, "the store is closed")

// Close commits the changes that were accepted, waits for the calls that are
// reading, and closes the file. Later calls fail with
// petstore.CodeUnavailable; another Close does nothing. If the store has failed,
// Close returns the error of [Store.Err].
func (s *Store) Close() (err error) {
	s.closeOnce.Do(func() {
		s.committer <- struct{}{}
		s.commitWaiting()
		s.publish(nil)
		err = s.closeFile()
		<-s.committer // for changes that began meanwhile: they find that the store is closed
	})
	return err
}

func (s *Store) closeFile() error {
	if err := s.Err(); err != nil {
		unlockAndClose(s.file)
		return err
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

// Damage returns the first damage that a call has found, because of which changes are
// refused until the file is opened again; nil: none was found.
func (s *Store) Damage() error {
	if e := s.damage.Load(); e != nil {
		return e.Err
	}
	return nil
}

// Stats implements petstore.Statistics.
func (s *Store) Stats(ctx context.Context) (stats petstore.Stats, err error) {
	err = s.view(ctx, func(snap *snapshot) error {
		stats = petstore.Stats{Pets: snap.Pets, QueuedMessages: snap.Queued}
		return nil
	})
	return stats, err
}
