package apikey

import (
	"cmp"
	"context"
	"crypto/sha256"
	"log/slog"
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
// If the last look was more than a second ago, or a key is unknown, it looks whether its path
// leads to another file, or to one with another size or time, and only then reads it. If the
// file is missing, malformed or cannot be read, the last good keys count until two seconds
// after the last look that found it good; then no key is accepted until a look, once a second,
// finds it good. While a look does not return, as on a file system that hangs, calls wait.
type File struct {
	path    string
	log     *slog.Logger
	looking sync.Mutex
	state   atomic.Pointer[state]
}

// state is what the last look has left.
type state struct {
	looked   time.Time
	good     time.Time                    // the last look that found the file good
	info     os.FileInfo                  // of the file before it was read; nil: it could not be used
	accounts map[[sha256.Size]byte]string // of the keys that count; nil: none can be checked
}

const (
	pause = time.Second     // between looks, but for unknown keys
	grace = 2 * time.Second // how long the last good keys count
)

// Open loads the file at path. It fails if the file is missing, empty, malformed or cannot
// be read. log receives how many keys were loaded, or why none are. nil: nothing is logged.
func Open(path string, log *slog.Logger) (*File, error) {
	path, err := filepath.Abs(path) // the working directory may change
	if err != nil {
		return nil, err
	}
	f := &File{path: path, log: cmp.Or(log, slog.New(slog.DiscardHandler))}
	f.state.Store(new(state))
	_, err = f.look(time.Now())
	return f, err
}

// look returns the state of a look after began or, while no key is accepted, less than a pause
// before. Its error says why the file cannot be used.
func (f *File) look(began time.Time) (s *state, err error) {
	f.looking.Lock()
	defer f.looking.Unlock()
	last := f.state.Load()
	if last.looked.After(began) || last.accounts == nil && began.Sub(last.looked) < pause {
		return last, nil
	}
	now := time.Now()
	s = &state{looked: now, good: now, accounts: last.accounts}
	s.info, err = os.Stat(f.path) // needs no descriptor
	if err == nil && (last.info == nil || !os.SameFile(s.info, last.info) ||
		s.info.Size() != last.info.Size() || !s.info.ModTime().Equal(last.info.ModTime())) {
		var keys []Key
		if keys, err = List(f.path); err == nil {
			s.accounts = make(map[[sha256.Size]byte]string)
			for _, k := range keys {
				s.accounts[k.hash] = k.Account
			}
			f.log.Info("key file loaded", "file", f.path, "keys", len(keys))
		}
	}
	if err != nil {
		s.good, s.info = last.good, nil
		if now.Sub(last.good) >= grace && s.accounts != nil {
			f.log.Error("key file cannot be used, so no key is accepted", "file", f.path, "err", err)
			s.accounts = nil
		}
	}
	f.state.Store(s)
	return s, err
}

var errUnknown = petstore.Errorf(petstore.CodeUnauthorized, "unknown API key")

// Authenticate returns the account of a key. The error for an unknown key has
// petstore.CodeUnauthorized, and the one for a key that cannot be checked
// petstore.CodeUnavailable. There is no other error; ctx is not used.
func (f *File) Authenticate(ctx context.Context, key string) (account string, err error) {
	hash, began := sha256.Sum256([]byte(key)), time.Now()
	s := f.state.Load()
	account, ok := s.accounts[hash]
	if !ok || began.Sub(s.looked) > pause || began.Sub(s.good) >= grace {
		s, _ = f.look(began)
		account, ok = s.accounts[hash]
	}
	switch {
	case ok:
		return account, nil
	case s.accounts == nil:
		return "", petstore.Errorf(petstore.CodeUnavailable, "the API key cannot be checked now; try again later")
	}
	return "", errUnknown
}
