package apikey

import (
	"cmp"
	"context"
	"crypto/sha256"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/animalstore/petstore"
)

// File checks keys against a file. It implements httpapi.Authenticator, and is
// safe for concurrent use.
//
// It loads a changed file within two seconds, and an added key as soon as a request has
// it, but not more often than ten times a second. If the file is malformed or cannot be
// read, the last good one stays in force and the reason is logged, once per change. A
// File polls, which works on all file systems, and for files that are replaced, linked
// or mounted.
type File struct {
	path     string
	log      *slog.Logger
	accounts atomic.Pointer[map[[sha256.Size]byte]string]
	stop     func()

	reading sync.Mutex // held while the fields below are used
	loaded  string     // the contents that were loaded, or the error
	seen    string     // what was read last by follow, or the error
	looked  time.Time  // when look has read last
}

// Open loads the file at path and follows its changes, which it logs; if log is
// nil, it does not log. It fails if the file is malformed or cannot be read.
func Open(path string, log *slog.Logger) (*File, error) {
	f := &File{path: path, log: cmp.Or(log, slog.New(slog.DiscardHandler))}
	contents, err := read(path)
	if err == nil {
		err = f.load(contents)
	}
	if err != nil {
		return nil, err
	}
	f.loaded, f.seen = contents, contents
	var ctx context.Context
	ctx, f.stop = context.WithCancel(context.Background())
	go f.follow(ctx)
	return f, nil
}

// load makes the keys in the contents of the file valid.
func (f *File) load(contents string) error {
	keys, err := parse(f.path, contents)
	if err != nil {
		return err
	}
	accounts := make(map[[sha256.Size]byte]string)
	for _, k := range keys {
		accounts[k.Hash] = k.Account
	}
	f.accounts.Store(&accounts)
	return nil
}

// Close stops following the file. The keys stay in force. It returns nil.
func (f *File) Close() error {
	f.stop()
	return nil
}

var errUnknown = petstore.Errorf(petstore.CodeUnauthorized, "unknown API key")

// Authenticate returns the account of a key. The error for an unknown key has
// petstore.CodeUnauthorized. There is no other error; ctx is not used.
func (f *File) Authenticate(ctx context.Context, key string) (account string, err error) {
	hash := sha256.Sum256([]byte(key))
	account, ok := (*f.accounts.Load())[hash]
	if !ok {
		f.look()
		account, ok = (*f.accounts.Load())[hash]
	}
	if !ok {
		return "", errUnknown
	}
	return account, nil
}

// look loads lines that were added to the file, for a key that is not known.
func (f *File) look() {
	const interval = 100 * time.Millisecond
	if !f.reading.TryLock() { // the file is being read
		return
	}
	defer f.reading.Unlock()
	if now := time.Now(); now.Sub(f.looked) >= interval {
		f.looked = now
		f.poll(false)
	}
}

// follow polls the file until ctx ends.
func (f *File) follow(ctx context.Context) {
	const interval = 500 * time.Millisecond // a change is loaded after two at most
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(interval):
		}
		f.reading.Lock()
		f.poll(true)
		f.reading.Unlock()
	}
}

// poll reads the file. It loads lines that were added at once. It loads other contents,
// if other is set, when it reads them a second time: the first time, they may be half
// written.
func (f *File) poll(other bool) {
	contents, err := read(f.path)
	now := contents
	if err != nil {
		now = err.Error() // differs from good contents, which end in a newline
	}
	added := strings.HasPrefix(now, f.loaded) && strings.HasSuffix(now, "\n")
	if now != f.loaded && (added || other && now == f.seen) {
		f.loaded = now
		if err == nil {
			err = f.load(contents)
		}
		if err != nil {
			f.log.Error("key file not loaded; the keys loaded before stay in force", "file", f.path, "err", err)
		} else {
			f.log.Info("key file loaded", "file", f.path, "keys", len(*f.accounts.Load()))
		}
	}
	if other {
		f.seen = now
	}
}
