package apikey

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"example.com/animalstore/petstore"
)

// File checks keys against a file. It implements httpapi.Authenticator, and is
// safe for concurrent use.
//
// For a request that comes more than a second after the last look, or whose key it does not
// know, it looks whether its path leads to another file, or to one with another size or time,
// and only then opens and reads it: touch a file that was changed without a change of these. If
// the file is missing, malformed or cannot be read, the last good keys are accepted until two
// seconds after the last look that found them, and then none until a look, once a second, finds a
// good file. While a look does not return, as on a file system that hangs, the calls that need it
// wait.
type File struct {
	path    string
	log     *slog.Logger
	looking sync.Mutex
	state   atomic.Pointer[state]
}

// state is what the last look has left.
type state struct {
	looked   time.Time
	info     os.FileInfo                  // of the file before it was read; nil: read it again
	accounts map[[sha256.Size]byte]string // of its keys

	err  error     // why the file cannot be used; nil: it can
	good time.Time // when it last could
}

// grace is how long the last good keys are accepted after they were last found in the file.
const grace = 2 * time.Second

// Open loads the file at path. It fails if the file is missing, empty, malformed or cannot
// be read. log receives changes of the file, and why it cannot be used; nil: nothing does.
func Open(path string, log *slog.Logger) (*File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	f := &File{path: path, log: slog.New(slog.DiscardHandler)}
	f.state.Store(new(state))
	if err := f.look(time.Now()).err; err != nil {
		return nil, err
	}
	if log != nil {
		f.log = log
	}
	return f, nil
}

// look returns the state of a look that has begun after began. While the file cannot be used,
// it looks once a second.
func (f *File) look(began time.Time) *state {
	f.looking.Lock()
	defer f.looking.Unlock()
	last := f.state.Load()
	if last.looked.After(began) || last.err != nil && began.Sub(last.looked) < time.Second {
		return last
	}
	next := f.next(last)
	f.state.Store(next)
	switch {
	case next.err != nil && last.err == nil:
		f.log.Error("key file cannot be used; two seconds after it last could, no key is accepted", "file", f.path, "err", next.err)
	case next.err == nil && (last.err != nil || !maps.Equal(next.accounts, last.accounts)):
		f.log.Info("key file loaded", "file", f.path, "keys", len(next.accounts))
	}
	return next
}

// next returns the state that follows last. It reads the file if that may have changed.
func (f *File) next(last *state) *state {
	now := time.Now()
	info, err := os.Stat(f.path) // needs no descriptor
	if err == nil && last.info != nil && os.SameFile(info, last.info) && info.Size() == last.info.Size() && info.ModTime().Equal(last.info.ModTime()) {
		return &state{looked: now, good: now, info: info, accounts: last.accounts}
	}
	var keys []Key
	if err == nil {
		keys, err = List(f.path)
	}
	if err != nil {
		return &state{looked: now, good: last.good, accounts: last.accounts, err: err}
	}
	if now.Sub(info.ModTime()).Abs() <= time.Second { // some file systems count time in seconds
		info = nil
	}
	next := &state{looked: now, good: now, info: info, accounts: make(map[[sha256.Size]byte]string)}
	for _, k := range keys {
		next.accounts[k.hash] = k.Account
	}
	return next
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
	if !ok || began.Sub(s.looked) > time.Second {
		s = f.look(began)
		account, ok = s.accounts[hash]
	}
	switch {
	case s.err != nil && (!ok || time.Since(s.good) > grace):
		return "", &petstore.Error{Code: petstore.CodeUnavailable, Message: "the API key cannot be checked now", Err: s.err}
	case !ok:
		return "", errUnknown
	}
	return account, nil
}
