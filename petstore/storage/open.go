package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"example.com/animalstore/petstore"
)

// Errors that [Open] wraps, beside [ErrDamaged] and those of package io/fs.
var (
	// ErrLocked says that another process has the file open.
	ErrLocked = errors.New("the file is in use by another process")

	// ErrForeign says that the file is not an animal store's.
	ErrForeign = errors.New("the file is not an animal store")

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
// (modes 0600 and 0700) if they do not exist. opts may be nil.
//
// It looks for damage before it trusts the file, and never replaces one that
// it cannot use. The error names the file and says what is wrong with it;
// errors.Is tells [ErrLocked], [ErrForeign], [ErrNewer] and [ErrDamaged]
// apart, and fs.ErrPermission and the like.
func Open(path string, opts *Options) (*Store, error) {
	o := opts.filled()
	s, err := open(path, o)
	if err == nil {
		return s, nil
	}
	var detailed *petstore.Error
	if errors.As(err, &detailed) {
		err = detailed.Err // no client is spoken to here
	}
	if errors.Is(err, ErrDamaged) {
		err = fmt.Errorf("%w; restore it from a backup", err)
	}
	var named *fs.PathError
	if errors.As(err, &named) {
		return nil, fmt.Errorf("opening the store: %w", err)
	}
	return nil, fmt.Errorf("opening the store %s: %w", path, err)
}

func open(path string, o Options) (*Store, error) {
	path, err := filepath.Abs(path) // a later change of directory changes nothing
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := create(path); err != nil {
			return nil, err
		}
	}
	s := &Store{
		path:     path,
		log:      o.Logger,
		now:      o.Now,
		capacity: int64(o.QueueCapacity),
		writes:   make(chan *write, maxWaiting),
		turn:     make(chan struct{}, 1),
		failed:   make(chan struct{}),
		wedged:   make(chan struct{}),
	}
	if err := s.openFile(o.LockTimeout); err != nil {
		return nil, err
	}
	if err := s.verify(); err != nil {
		_ = s.closeFile()
		return nil, err
	}
	return s, nil
}

// openFile has the file inspected, locked and mapped.
func (s *Store) openFile(timeout time.Duration) (err error) {
	defer func() {
		if err != nil && s.file != nil {
			s.file.Close() // bbolt does not, when it panics
		}
	}()
	defer recoverDamage(&err)()
	var warning string
	options := boltOptions()
	options.Timeout = max(timeout, 1) // bbolt takes 0 for ever
	options.OpenFile = func(path string, flag int, mode fs.FileMode) (*os.File, error) {
		f, err := os.OpenFile(path, flag&^os.O_CREATE, mode)
		if err != nil {
			return nil, err
		}
		if err = lockExclusive(f, timeout); err == nil {
			warning, err = inspect(f)
		}
		if err != nil {
			f.Close()
			return nil, err
		}
		s.file = f
		return f, nil
	}
	s.db, err = bbolt.Open(s.path, 0, options)
	if errors.Is(err, berrors.ErrTimeout) {
		return ErrLocked
	} else if err != nil {
		return err
	}
	if warning != "" {
		s.log.Warn(warning, "path", s.path)
	}
	s.info, err = s.file.Stat()
	return err
}

// boltOptions are the settings that our files are made and opened with.
func boltOptions() *bbolt.Options {
	o := *bbolt.DefaultOptions
	o.NoStatistics = true
	o.FreelistType = bbolt.FreelistMapType
	if runtime.GOOS != "windows" && strconv.IntSize == 64 {
		// Addresses cost nothing, and to map more of a growing file later a
		// write would have to wait for every read. (Windows would make the
		// file as large as the mapping.)
		o.InitialMmapSize = 1 << 30
	}
	return &o
}

// verify makes sure that the file is an animal store of this release's schema
// and that the ends of its tables are where its counters say.
func (s *Store) verify() (err error) {
	tx, err := s.begin(false)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	defer recoverDamage(&err)()
	s.readers.shown = tx.ID()
	if err := checkMark(tx); err != nil {
		return err
	}
	r := &reader{tx: tx}
	if err := r.prepare(); err != nil {
		return err
	}
	return r.checkEnds()
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
