package apikey

import (
	"cmp"
	"context"
	"crypto/sha256"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"example.com/animalstore/petstore"
)

// File checks keys against a file. It implements httpapi.Authenticator, and is
// safe for concurrent use.
//
// It reads the file again for a request with a key that it does not know, and for one that
// comes more than a second after the file was last read. This works on all file systems,
// and for files that are replaced, linked or mounted. If the file is malformed or cannot
// be read, the last good one stays in force and the reason is logged, once per change.
type File struct {
	path    string
	log     *slog.Logger
	reading sync.Mutex
	state   atomic.Pointer[state]
}

// state is what a File knows.
type state struct {
	read     time.Time // when the file was read
	contents string    // of the file, or the error
	accounts map[[sha256.Size]byte]string
}

// Open loads the file at path. It fails if the file is malformed or cannot be read.
// Later changes are logged; if log is nil, they are not.
func Open(path string, log *slog.Logger) (*File, error) {
	f := &File{path: path, log: cmp.Or(log, slog.New(slog.DiscardHandler))}
	s, err := f.load(state{})
	if err != nil {
		return nil, err
	}
	f.state.Store(&s)
	return f, nil
}

// load reads the file and returns what follows last. If the file has changed for the
// worse, the error says why, and the accounts are those of last.
func (f *File) load(last state) (state, error) {
	next := state{read: time.Now(), accounts: last.accounts}
	contents, err := read(f.path)
	next.contents = contents
	if err != nil {
		next.contents = err.Error() // differs from good contents, which end in a newline
	}
	if next.contents == last.contents {
		return next, nil
	}
	var keys []Key
	if err == nil {
		keys, err = parse(f.path, contents)
	}
	if err != nil {
		return next, err
	}
	next.accounts = make(map[[sha256.Size]byte]string)
	for _, k := range keys {
		next.accounts[k.hash] = k.Account
	}
	return next, nil
}

var errUnknown = petstore.Errorf(petstore.CodeUnauthorized, "unknown API key")

// Authenticate returns the account of a key. The error for an unknown key has
// petstore.CodeUnauthorized. There is no other error; ctx is not used.
func (f *File) Authenticate(ctx context.Context, key string) (account string, err error) {
	hash, began := sha256.Sum256([]byte(key)), time.Now()
	s := f.state.Load()
	account, ok := s.accounts[hash]
	if !ok || began.Sub(s.read) > time.Second {
		account, ok = f.reload(began).accounts[hash]
	}
	if !ok {
		return "", errUnknown
	}
	return account, nil
}

// reload loads the file, unless another call has begun to read it after began.
func (f *File) reload(began time.Time) *state {
	f.reading.Lock()
	defer f.reading.Unlock()
	last := f.state.Load()
	if last.read.After(began) {
		return last
	}
	next, err := f.load(*last)
	f.state.Store(&next)
	switch {
	case err != nil:
		f.log.Error("key file not loaded; the keys loaded before stay in force", "file", f.path, "err", err)
	case next.contents != last.contents:
		f.log.Info("key file loaded", "file", f.path, "keys", len(next.accounts))
	}
	return &next
}
