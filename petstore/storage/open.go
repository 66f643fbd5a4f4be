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
)

// Errors that [Open] wraps, beside [ErrDamaged] and those of package io/fs.
var (
	// ErrLocked says that another process has the file open.
	ErrLocked = errors.New("the file is in use by another process")

	// ErrForeign says that the file is not a petstore's.
	ErrForeign = errors.New("the file is not a petstore")

	// ErrNewer says that a newer release has written the file.
	ErrNewer = errors.New("the file was written by a newer release")
)

// DefaultLockTimeout is how long [Open] waits for a file that is in use.
const DefaultLockTimeout = time.Second

// Options are the settings of a [Store]. The zero value and nil are ready for
// use.
type Options struct {
	// Logger is told what an operator should know. nil: nobody is.
	Logger *slog.Logger

	// Now tells the time, for Message.CreatedAt and for how long outcomes
	// are remembered. nil: time.Now.
	Now func() time.Time

	// MustExist makes Open fail with fs.ErrNotExist if there is no file,
	// rather than make one.
	MustExist bool

	// LockTimeout is how long Open waits for another process to close the
	// file. 0: DefaultLockTimeout. Negative: not at all.
	LockTimeout time.Duration

	// QueueCapacity is how many messages may be queued at once.
	// 0: petstore.DefaultQueueCapacity.
	QueueCapacity int
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
	if f.LockTimeout == 0 {
		f.LockTimeout = DefaultLockTimeout
	}
	if f.QueueCapacity == 0 {
		f.QueueCapacity = petstore.DefaultQueueCapacity
	}
	return f
}

// Open opens the store in the file at path, and makes file and directory
// (modes 0600 and 0700) if they do not exist, unless MustExist is set. opts may
// be nil.
//
// It looks for damage before it trusts the file, and never replaces one that
// it cannot use. The error names the file and says what is wrong with it;
// errors.Is tells [ErrLocked], [ErrForeign], [ErrNewer] and [ErrDamaged]
// apart, and fs.ErrPermission and the like.
func Open(path string, opts *Options) (*Store, error) {
	s, err := open(path, opts.filled(), false)
	if err != nil {
		return nil, openError(path, err)
	}
	return s, nil
}

// openError adds to err the name of the file and what can be done.
func openError(path string, err error) error {
	var detailed *petstore.Error
	if errors.As(err, &detailed) {
		err = detailed.Err // no client is spoken to here
	}
	if errors.Is(err, ErrDamaged) {
		err = fmt.Errorf("%w; restore it from a backup", err)
	}
	var named *fs.PathError
	if errors.As(err, &named) {
		return fmt.Errorf("opening the store: %w", err)
	}
	return fmt.Errorf("opening the store %s: %w", path, err)
}

// open opens the store. If acceptOlder is true, it opens only a file that it
// otherwise refuses with ErrUndecided.
func open(path string, o Options, acceptOlder bool) (*Store, error) {
	path, err := filepath.Abs(path) // a later change of directory changes nothing
	if err != nil {
		return nil, err
	}
	found := Info{Path: path, Schema: schema}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && !o.MustExist {
		if found.New, err = create(path); err != nil {
			return nil, err
		}
	}
	s := &Store{
		path:     path,
		found:    found,
		log:      o.Logger,
		now:      o.Now,
		capacity: int64(o.QueueCapacity),
		writes:   make(chan *write, maxWaiting),
		turn:     make(chan struct{}, 1),
		failed:   make(chan struct{}),
		wedged:   make(chan struct{}),
		closing:  make(chan struct{}),
	}
	invalid, err := s.openFile(o.LockTimeout)
	if err != nil {
		return nil, err
	}
	err = s.verify()
	if err == nil {
		err = s.judgeMeta(invalid, acceptOlder)
	}
	if err != nil {
		s.show(nil)
		_ = s.closeFile()
		return nil, err
	}
	go s.watch()
	return s, nil
}

// openFile locks the file, inspects it and maps it. invalid says what is wrong
// with one of its two meta pages, if anything is.
func (s *Store) openFile(timeout time.Duration) (invalid, err error) {
	ahead := mapAhead()
	invalid, err = s.tryOpen(timeout, ahead)
	if err != nil && ahead > smallMapAhead && errors.Is(err, syscall.ENOMEM) { // ulimit -v
		invalid, err = s.tryOpen(timeout, smallMapAhead)
	}
	return invalid, err
}

// tryOpen is openFile with ahead bytes mapped beyond the end of the file.
func (s *Store) tryOpen(timeout time.Duration, ahead int64) (invalid, err error) {
	defer func() {
		if err != nil && s.file != nil {
			s.file.Close() // bbolt does not, when it panics
		}
	}()
	defer recoverDamage(&err)()
	options := boltOptions()
	options.Timeout = max(timeout, 1) // bbolt takes 0 as forever
	options.OpenFile = func(path string, flag int, mode fs.FileMode) (*os.File, error) {
		f, err := os.OpenFile(path, flag&^os.O_CREATE, mode)
		if err != nil {
			return nil, err
		}
		if err = lockExclusive(f, timeout); err == nil {
			invalid, err = inspect(f)
		}
		if err != nil {
			f.Close()
			return nil, err
		}
		if s.info, err = f.Stat(); err != nil {
			f.Close()
			return nil, err
		}
		s.file = f
		s.mapped = mapSize(s.info.Size() + ahead)
		options.InitialMmapSize = int(min(s.info.Size()+ahead, math.MaxInt))
		return f, nil
	}
	s.db, err = bbolt.Open(s.path, 0, options)
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

// verify makes sure that the file is a petstore of this release's schema
// and that the ends of its tables are where its counters say.
func (s *Store) verify() (err error) {
	tx, err := s.begin(false)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	defer recoverDamage(&err)()
	if err := checkMark(tx); err != nil {
		return err
	}
	s.lastCommit = tx.ID()
	if s.lastState, err = loadState(tx); err != nil {
		return err
	}
	p, err := s.newSnapshot()
	if err != nil {
		return err
	}
	s.show(p)
	s.size = tx.Size()
	s.clean = p.state.closed != 0
	s.found.Pets = p.state.lastPet
	return p.reader(s).checkEnds()
}

// checkMark tells our files from others and from newer ones.
func checkMark(tx *bbolt.Tx) error {
	meta := tx.Bucket(metaTable.name)
	if meta == nil {
		return ErrForeign
	}
	if v := meta.Get(applicationKey); v == nil {
		return ErrForeign
	} else if mark, err := metaTable.open(applicationKey, v); err != nil {
		return err
	} else if string(mark) != application {
		return ErrForeign
	}
	version, err := metaTable.open(schemaKey, meta.Get(schemaKey))
	if err != nil {
		return err
	}
	if len(version) != 8 || int64At(version) < 1 {
		return damaged("the schema version is %x", version)
	}
	if n := int64At(version); n > schema {
		return fmt.Errorf("%w: its schema is version %d, and this one knows %d", ErrNewer, n, schema)
	}
	return nil
}

// checkEnds holds the counters against the last key of each table that they
// count, and makes sure that all tables are there.
func (r *reader) checkEnds() error {
	for _, s := range append(petstore.Statuses(), "") {
		l := r.list(s)
		got := int64(0)
		if k, v := l.blocks.Last(); k != nil {
			b, err := openBlock(l.table, k, v)
			if err != nil {
				return err
			}
			got = b.last()
		}
		if got != l.last {
			return damaged("%s ends at %d and not at %d", l.table.name, got, l.last)
		}
	}
	for _, t := range tables() {
		if _, err := t.bucket(r.tx); err != nil {
			return err
		}
	}
	return nil
}
