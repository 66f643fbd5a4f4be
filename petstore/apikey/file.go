package apikey

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"example.com/animalstore/petstore"
)

// File checks keys against a file. It implements httpapi.Authenticator, and is
// safe for concurrent use.
//
// It loads a changed file within two seconds. If the file is malformed or cannot
// be read, the last good one stays in force and the reason is logged, once per
// change. It also logs a warning when no key is valid. A File polls, which works
// on all file systems, and for files that are replaced, linked or mounted.
type File struct {
	path string
	log  *slog.Logger
	keys atomic.Pointer[map[string]Key] // by ID
	stop func()
}

// Open loads the file at path and follows its changes, which it logs; if log is
// nil, it does not log. It fails if the file is malformed or cannot be read.
func Open(path string, log *slog.Logger) (*File, error) {
	f := &File{path: path, log: cmp.Or(log, slog.New(slog.DiscardHandler))}
	contents, _, err := read(path, 0)
	if err == nil {
		err = f.load(contents)
	}
	if err != nil {
		return nil, err
	}
	stop := make(chan struct{})
	f.stop = sync.OnceFunc(func() { stop <- struct{}{} })
	go f.follow(contents, stop)
	return f, nil
}

// load parses the contents of the file and makes its keys valid.
func (f *File) load(contents string) error {
	_, keys, err := parse(f.path, contents)
	if err == nil {
		f.keys.Store(&keys)
	}
	return err
}

// Close stops following the file. The keys stay in force. It returns nil.
func (f *File) Close() error {
	f.stop()
	return nil
}

// Made once, so that a flood of wrong keys costs little.
var (
	errUnknown = petstore.Errorf(petstore.CodeUnauthorized, "unknown API key")
	errExpired = petstore.Errorf(petstore.CodeUnauthorized, "expired API key")
)

// Authenticate returns the account of a key. The error for an unknown or expired
// key has petstore.CodeUnauthorized. There is no other error; ctx is not used.
func (f *File) Authenticate(ctx context.Context, key string) (account string, err error) {
	var buf [128]byte // saves an allocation
	hash := sha256.Sum256(append(buf[:0], key...))
	k, ok := (*f.keys.Load())[string(hex.AppendEncode(buf[:0], hash[:6]))]
	if !ok || subtle.ConstantTimeCompare(hash[:], k.Hash[:]) == 0 {
		return "", errUnknown
	}
	if !k.Expires.IsZero() && k.Expired(time.Now()) { // most keys need no clock
		return "", errExpired
	}
	return k.Account, nil
}

// follow polls the file until stop is closed. loaded is what was loaded from it
// before. follow loads new contents when it reads them a second time: the first time,
// they may be half written.
func (f *File) follow(loaded string, stop <-chan struct{}) {
	const interval = 500 * time.Millisecond // a change is loaded after at most two
	seen, wasValid := loaded, true
	for {
		select {
		case <-stop:
			return
		case <-time.After(interval):
		}
		contents, _, err := read(f.path, 0)
		now := contents
		if err != nil {
			now = err.Error() // differs from good contents, which end in a newline
		}
		if now == seen && now != loaded {
			loaded = now
			if err == nil {
				err = f.load(contents)
			}
			if err != nil {
				f.log.Error("key file not loaded; the keys loaded before stay in force", "file", f.path, "err", err)
			} else {
				f.log.Info("key file loaded", "file", f.path, "keys", len(*f.keys.Load()))
			}
		}
		seen = now
		valid := f.anyValid()
		if !valid && wasValid {
			f.log.Warn("no valid key in the key file: every request is refused", "file", f.path)
		}
		wasValid = valid
	}
}

func (f *File) anyValid() bool {
	for _, k := range *f.keys.Load() {
		if !k.Expired(time.Now()) {
			return true
		}
	}
	return false
}
