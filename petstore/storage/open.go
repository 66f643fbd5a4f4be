package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/internal/boltfile"
)

// Errors that [Open] wraps, besides [ErrDamaged], [ErrUndecided] and those of
// package io/fs.
var (
	// ErrLocked says that another process has the file open.
	ErrLocked = errors.New("the file is in use by another process")

	// ErrForeign says that the file is not a petstore.
	ErrForeign = boltfile.ErrForeign

	// ErrNewer says that a newer release has written the file.
	ErrNewer = errors.New("the file was written by a newer release")
)

// lockTimeout is how long [Open] waits for another process to close the file. It
// is shorter in tests.
var lockTimeout = time.Second

// Options are the settings of a [Store]. The zero value is ready for use.
type Options struct {
	// Logger receives what an operator should know. nil: nothing is logged.
	Logger *slog.Logger

	// Now returns the time, for Message.CreatedAt. Outcomes are remembered for
	// petstore.OnceKept by the difference of two times, which with time.Now is
	// that of the monotonic clock. nil: time.Now.
	Now func() time.Time

	// MustExist makes Open fail with fs.ErrNotExist if there is no file.
	// false: Open makes one.
	MustExist bool

	// QueueCapacity is how many messages may be queued at once.
	// 0: petstore.DefaultQueueCapacity.
	QueueCapacity int

	// Committed is called after each commit, with the number of changes in it
	// and how long it took to write and sync them. The callers of the changes
	// wait for it. nil: it is not called.
	Committed func(changes int, sync time.Duration)
}

// filled returns o, which may be nil, with its defaults filled in.
func (o *Options) filled() Options {
	var f Options
	if o != nil {
		f = *o
	}
	if f.Logger == nil {
		f.Logger = slog.New(slog.DiscardHandler)
	}
	if f.Now == nil {
		f.Now = time.Now
	}
	if f.QueueCapacity == 0 {
		f.QueueCapacity = petstore.DefaultQueueCapacity
	}
	if f.Committed == nil {
		f.Committed = func(int, time.Duration) {}
	}
	return f
}

// Open opens the store in the file at path. If the file or its directory does
// not exist, Open makes it, with mode 0600 or 0700, unless MustExist is set. opts
// may be nil, for the zero Options.
//
// It looks for damage before it trusts the file, and never replaces a file that
// it cannot use. The error names the file and wraps [ErrLocked], [ErrForeign],
// [ErrNewer], [ErrDamaged], [ErrUndecided] or an error of package io/fs.
func Open(path string, opts *Options) (*Store, error) {
	s, err := open(path, opts.filled(), false)
	if err != nil {
		return nil, openError(path, err)
	}
	return s, nil
}

// openError adds to err the name of the file and what can be done.
func openError(path string, err error) error {
	if errors.Is(err, ErrDamaged) {
		err = fmt.Errorf("%w; restore it from a backup", err)
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("opening the store: %w", err)
	}
	return fmt.Errorf("opening the store %s: %w", path, err)
}

// open opens the store. If acceptOlder is true, it opens only a file that it
// otherwise refuses with ErrUndecided.
func open(path string, o Options, acceptOlder bool) (*Store, error) {
	path, err := filepath.Abs(path) // the working directory may change
	if err != nil {
		return nil, err
	}
	found := Info{Path: path, Schema: schema}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && !o.MustExist {
		if found.New, err = makeStore(path); err != nil {
			return nil, err
		}
	}
	s := &Store{
		path:      path,
		found:     found,
		log:       o.Logger,
		now:       o.Now,
		committed: o.Committed,
		capacity:  int64(o.QueueCapacity),
		writes:    make(chan *write, maxWaiting),
		committer: make(chan struct{}, 1),
		failed:    make(chan struct{}),
		closing:   make(chan struct{}),
	}
	invalid, err := s.openFile()
	if err != nil {
		return nil, err
	}
	s.guard = boltfile.NewGuard(s.file, int64(s.db.Info().PageSize))
	if err = s.verify(); err == nil {
		err = s.judgeMeta(invalid, acceptOlder)
	}
	if err != nil {
		_ = s.closeFile()
		return nil, err
	}
	go s.watch()
	return s, nil
}

// openFile locks the file, inspects it and maps it. invalid is what is wrong
// with one of its two meta pages, nil if both are valid.
func (s *Store) openFile() (invalid, err error) {
	invalid, err = s.mapFile(mapAhead())
	if errors.Is(err, syscall.ENOMEM) { // as under ulimit -v
		invalid, err = s.mapFile(smallMapAhead)
	}
	return invalid, err
}

// mapFile is openFile with that many bytes mapped beyond the end of the file.
func (s *Store) mapFile(ahead int64) (invalid, err error) {
	options := boltOptions()
	options.Timeout = lockTimeout
	options.OpenFile = func(path string, flag int, _ fs.FileMode) (*os.File, error) {
		f, err := openRegular(path, flag&^os.O_CREATE)
		if err != nil {
			return nil, err
		}
		s.file = f
		if err = lockExclusive(f); err == nil {
			invalid, err = inspect(f)
		}
		if err == nil {
			s.info, err = f.Stat()
		}
		if err != nil {
			return nil, err
		}
		mapped := min(s.info.Size()+ahead, math.MaxInt)
		s.mapped = mapSize(mapped)
		options.InitialMmapSize = int(mapped)
		return f, nil
	}
	err = safely(func() (err error) {
		s.db, err = bbolt.Open(s.path, 0, options)
		return err
	})
	if err != nil && s.file != nil {
		s.file.Close() // bbolt does not close it when it panics
	}
	if errors.Is(err, berrors.ErrTimeout) {
		err = ErrLocked
	}
	return invalid, err
}

// boltOptions are the settings that our files are made and opened with.
func boltOptions() *bbolt.Options {
	o := *bbolt.DefaultOptions
	o.NoStatistics = true
	o.FreelistType = bbolt.FreelistMapType
	return &o
}

// verify makes sure that the file is of this release's schema, that it has every
// table, and that each table of pets ends where the state says. It makes reads use
// that state.
func (s *Store) verify() error {
	p, err := s.newSnapshot()
	if err != nil {
		return err
	}
	s.lastCommit, s.lastState, s.size = p.tx.ID(), p.state, p.tx.Size()
	s.opened, s.openedClock = s.now(), p.state.Clock
	s.found.Pets = p.state.lastPet()
	s.show(p)
	return safely(func() error {
		for i, b := range p.buckets.pets {
			if _, err := openLastBlock(&petTables[i], b.Cursor(), p.state.LastIDs[i]); err != nil {
				return err
			}
		}
		return nil
	})
}
