package apikey

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
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
// For a request that comes more than a second after the last look, or whose key it does not
// know, it looks whether its path leads to another file, or to one with another size or time,
// and only then reads it. If the file is missing, malformed or cannot be read, the last good
// keys count until two seconds after the last look that found it good; then no key is accepted
// until a look, once a second, finds it good. While a look does not return, as on a file system
// that hangs, the calls that need it wait.
type File struct {
	path    string
	log     *slog.Logger
	looking sync.Mutex
	state   atomic.Pointer[state]
}

// state is what the last look has left.
type state struct {
	looked   time.Time
	due      time.Time                    // when a known key needs another look and, if accounts is nil, any key
	good     time.Time                    // the last look that found the file good
	info     os.FileInfo                  // of the file before it was read; nil: it could not be used
	accounts map[[sha256.Size]byte]string // of the keys that count; nil: none can be checked
}

// grace is how long the last good keys count after they were last found in the file.
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
	if _, err = f.look(time.Now()); errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; refserver keys create makes one", err)
	}
	if err != nil {
		return nil, err
	}
	if log != nil {
		f.log = log
	}
	return f, nil
}

// look returns the state of a look that has begun after began or, while no key is accepted, of
// the last one that was due. Its error says why the file cannot be used.
func (f *File) look(began time.Time) (s *state, err error) {
	f.looking.Lock()
	defer f.looking.Unlock()
	last := f.state.Load()
	if last.looked.After(began) || last.accounts == nil && began.Before(last.due) {
		return last, nil
	}
	now := time.Now()
	s = &state{looked: now, due: now.Add(time.Second), good: now, accounts: last.accounts}
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
		if left := grace - now.Sub(last.good); left > 0 {
			s.due = now.Add(min(left, time.Second))
		} else if s.accounts != nil {
			f.log.Error("key file cannot be used, so no key is accepted", "file", f.path, "err", err)
			s.accounts = nil
		}
	}
	f.state.Store(s)
	return s, err
}

var (
	errUnknown   = petstore.Errorf(petstore.CodeUnauthorized, "unknown API key")
	errUnchecked = petstore.Errorf(petstore.CodeUnavailable, "the API key cannot be checked now; try again later")
)

// Authenticate returns the account of a key. The error for an unknown key has
// petstore.CodeUnauthorized, and the one for a key that cannot be checked
// petstore.CodeUnavailable. There is no other error; ctx is not used.
func (f *File) Authenticate(ctx context.Context, key string) (account string, err error) {
	hash, began := sha256.Sum256([]byte(key)), time.Now()
	s := f.state.Load()
	account, ok := s.accounts[hash]
	if !ok || began.After(s.due) {
		s, _ = f.look(began)
		account, ok = s.accounts[hash]
	}
	switch {
	case ok:
		return account, nil
	case s.accounts == nil:
		return "", errUnchecked
	}
	return "", errUnknown
}
