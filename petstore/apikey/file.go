package apikey

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"example.com/animalstore/petstore"
)

// File checks keys against a file. It implements httpapi.Authenticator, and is
// safe for concurrent use.
//
// It reads the file again for the first request that comes more than a second after the
// last reading, and for a key that it does not know if the file's size, time or identity
// has changed since. This works on all file systems, and for files that are replaced,
// linked or mounted.
//
// If the file cannot be read, the keys of the last reading are accepted until two seconds
// after that reading. Then no key is accepted until the file can be read again. If the file
// is malformed, the last good keys stay in force, and the reason is logged once. While a
// reading does not return, as on a file system that hangs, the calls that need it wait.
type File struct {
	path    string
	log     *slog.Logger
	reading sync.Mutex
	state   atomic.Pointer[state]
}

// state is what a File knows.
type state struct {
	tried      time.Time // when the file was last read, or could not be read
	unreadable error     // why it could not be; nil: it was read

	read     time.Time   // when it was last read, well-formed or not
	info     os.FileInfo // of the file just before
	contents string
	accounts map[[sha256.Size]byte]string // of the last well-formed contents

	malformed error // what is wrong with contents; nil: nothing is
}

// maxUnread is how long the keys of the last reading are accepted if the file cannot be
// read.
const maxUnread = 2 * time.Second

// Options are the settings of a [File]. The zero value and nil are ready for use.
type Options struct {
	// Logger receives changes of the file, and why it cannot be used. nil: nothing is
	// logged.
	Logger *slog.Logger
}

// Open loads the file at path. It fails if the file is missing, empty, malformed or cannot
// be read. opts may be nil.
func Open(path string, opts *Options) (*File, error) {
	f := &File{path: path, log: slog.New(slog.DiscardHandler)}
	if opts != nil && opts.Logger != nil {
		f.log = opts.Logger
	}
	s := f.load(state{})
	err := cmp.Or(s.unreadable, s.malformed)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; make it with refserver keys create", err)
	}
	if err != nil {
		return nil, err
	}
	f.state.Store(&s)
	return f, nil
}

// load reads the file and returns the state that follows last.
func (f *File) load(last state) state {
	next := last
	next.tried = time.Now()
	contents, info, err := read(f.path)
	next.unreadable = err
	if err != nil {
		return next
	}
	next.read, next.info, next.contents = next.tried, info, contents
	if contents == last.contents {
		return next
	}
	var keys []Key
	if keys, next.malformed = parse(f.path, contents); next.malformed != nil {
		return next
	}
	next.accounts = make(map[[sha256.Size]byte]string)
	for _, k := range keys {
		next.accounts[k.hash] = k.Account
	}
	return next
}

// changed reports whether the file differs from the one that was read.
func (f *File) changed(s *state) bool {
	info, err := os.Stat(f.path)
	return err != nil || !os.SameFile(info, s.info) || info.Size() != s.info.Size() || !info.ModTime().Equal(s.info.ModTime())
}

var errUnknown = petstore.Errorf(petstore.CodeUnauthorized, "unknown API key")

// Authenticate returns the account of a key. The error for an unknown key has
// petstore.CodeUnauthorized, and the one for a key that cannot be checked
// petstore.CodeUnavailable. There is no other error; ctx is not used.
func (f *File) Authenticate(ctx context.Context, key string) (account string, err error) {
	var stack [64]byte // for the bytes of a usual key
	hash, began := sha256.Sum256(append(stack[:0], key...)), time.Now()
	s := f.state.Load()
	account, ok := s.accounts[hash]
	if began.Sub(s.read) > time.Second || (!ok && f.changed(s)) {
		s = f.reload(began)
		account, ok = s.accounts[hash]
	}
	switch {
	case s.unreadable != nil && (!ok || time.Since(s.read) > maxUnread):
		return "", &petstore.Error{Code: petstore.CodeUnavailable, Message: "the API key cannot be checked now", Err: s.unreadable}
	case !ok:
		return "", errUnknown
	}
	return account, nil
}

// reload loads the file, unless another call has begun to read it after began.
func (f *File) reload(began time.Time) *state {
	f.reading.Lock()
	defer f.reading.Unlock()
	last := f.state.Load()
	if last.tried.After(began) {
		return last
	}
	next := f.load(*last)
	switch {
	case next.unreadable != nil && last.unreadable == nil:
		f.log.Error("key file cannot be read; two seconds after it was last read, no key is accepted", "file", f.path, "err", next.unreadable)
	case next.unreadable != nil: // it was logged
	case next.malformed != nil && next.contents != last.contents:
		f.log.Error("key file malformed; the keys loaded before stay in force", "file", f.path, "err", next.malformed)
	case next.malformed == nil && (next.contents != last.contents || last.unreadable != nil):
		f.log.Info("key file loaded", "file", f.path, "keys", len(next.accounts))
	}
	f.state.Store(&next)
	return &next
}
