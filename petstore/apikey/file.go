package apikey

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"example.com/animalstore/petstore"
)

// pollInterval is how often the file is looked at. A change is taken when two
// looks in a row have seen the same: within two intervals, half of what is
// promised.
const pollInterval = 500 * time.Millisecond

// Options are what a [File] can be told. The zero value works.
type Options struct {
	Logger *slog.Logger     // told of every change taken or refused; nil: discard
	Now    func() time.Time // the clock that expiry goes by; nil: time.Now
}

// File checks keys against a key file. It is the authenticator that package
// petstore/httpapi asks for, safe for concurrent use.
//
// It takes a change of the file within two seconds. If a changed file cannot be
// taken (half written, malformed, unreadable, gone), the last good one stays in
// force, and the reason is logged once for each change. A File also logs when
// no key is valid. It polls the file rather than watching it, which works on
// any kind of file system, and for a file that is replaced, linked to or
// mounted.
type File struct {
	path string
	log  *slog.Logger
	now  func() time.Time

	keys atomic.Pointer[map[[sha256.Size]byte]grant]

	// Of the goroutine that looks at the file.
	loaded  [sha256.Size]byte // hash of the contents that keys are from
	ends    int64             // when the last of the keys expires, in Unix time; 0: there are none
	none    bool              // it was logged that no key is valid
	last    look              // the state that the last look saw
	taken   look              // the last state that was taken or refused
	refused string            // why the last one was refused; "": it was not

	stop    chan struct{}
	stopped chan struct{}
	close   sync.Once
}

// grant is what a key gives its bearer.
type grant struct {
	account string
	expires int64 // Unix time in seconds; 0: never
}

// look is what looking at a file without reading it tells.
type look struct {
	fi  os.FileInfo
	err string
}

// same reports whether nothing tells a from b.
func (a look) same(b look) bool {
	if a.fi == nil || b.fi == nil {
		return a.fi == nil && b.fi == nil && a.err == b.err
	}
	return a.fi.Size() == b.fi.Size() && a.fi.ModTime().Equal(b.fi.ModTime()) &&
		a.fi.Mode() == b.fi.Mode() && os.SameFile(a.fi, b.fi)
}

// Open reads a key file and starts to follow its changes. A file that cannot
// be taken is an error here: there is no last good one yet.
func Open(path string, opts *Options) (*File, error) {
	if opts == nil {
		opts = &Options{}
	}
	path, err := filepath.Abs(path) // a later change of directory changes nothing
	if err != nil {
		return nil, err
	}
	f := &File{
		path:    path,
		log:     opts.Logger,
		now:     opts.Now,
		stop:    make(chan struct{}),
		stopped: make(chan struct{}),
	}
	if f.log == nil {
		f.log = slog.New(slog.DiscardHandler)
	}
	if f.now == nil {
		f.now = time.Now
	}
	if _, _, err := f.load(); err != nil {
		return nil, err
	}
	f.warn()
	go f.follow()
	return f, nil
}

// Close stops following the file. The keys stay as they are.
func (f *File) Close() error {
	f.close.Do(func() { close(f.stop) })
	<-f.stopped
	return nil
}

// The refusals are made once: a flood of wrong keys is to cost little.
var (
	errUnknown = petstore.Errorf(petstore.CodeUnauthorized, "unknown API key")
	errExpired = petstore.Errorf(petstore.CodeUnauthorized, "expired API key")
)

// Authenticate returns the account that key stands for. It refuses an unknown
// or expired key with an error of [petstore.CodeUnauthorized] and has no other
// errors; the context is not used.
//
// The key's hash is what is looked up, so the time that this takes tells
// nothing about the keys there are.
func (f *File) Authenticate(_ context.Context, key string) (principal string, err error) {
	var room [2 * KeyLen]byte // on the stack: a conversion of this length would allocate
	g, ok := (*f.keys.Load())[sha256.Sum256(append(room[:0], key...))]
	if !ok {
		return "", errUnknown
	}
	if g.expires != 0 && f.now().Unix() >= g.expires {
		return "", errExpired
	}
	return g.account, nil
}

// follow looks at the file until Close.
func (f *File) follow() {
	defer close(f.stopped)
	t := time.NewTicker(pollInterval)
	defer t.Stop()
	for {
		select {
		case <-f.stop:
			return
		case <-t.C:
			f.poll()
		}
	}
}

// poll looks at the file once and takes it if it has changed and come to rest:
// a state that only one look has seen may be half written. A file that was
// refused is tried again each time, since what kept it from being read may not
// show in its state.
func (f *File) poll() {
	defer f.warn()
	var now look
	fi, err := os.Stat(f.path)
	if err != nil {
		now.err = err.Error()
	} else {
		now.fi = fi
	}
	rests := now.same(f.last)
	f.last = now
	changed := !now.same(f.taken)
	if !rests || !changed && f.refused == "" {
		return
	}
	f.taken = now
	n, news, err := f.load()
	switch {
	case err != nil:
		if changed || err.Error() != f.refused {
			f.log.Error("key file not taken; the keys read before stay in force", "file", f.path, "err", err)
		}
		f.refused = err.Error()
	case news || f.refused != "":
		f.log.Info("key file taken", "file", f.path, "keys", n)
		f.refused = ""
	}
}

// warn logs that no key is valid: once, until a key is valid again.
func (f *File) warn() {
	none := f.now().Unix() >= f.ends
	if none && !f.none {
		f.log.Warn("no valid key in the key file: every request is refused", "file", f.path)
	}
	f.none = none
}

// load reads the file and puts its keys in force. It returns their number, and
// whether the contents are other than those that were in force already.
func (f *File) load() (n int, news bool, err error) {
	data, err := readBytes(f.path, 0)
	if err != nil {
		return 0, false, err
	}
	sum := sha256.Sum256(data)
	if keys := f.keys.Load(); keys != nil && sum == f.loaded {
		return len(*keys), false, nil
	}
	d, err := parse(data)
	if err != nil {
		return 0, false, fmt.Errorf("%s: %w", f.path, err)
	}
	keys := make(map[[sha256.Size]byte]grant, len(d.keys))
	f.ends = 0
	for _, k := range d.keys {
		g := grant{account: k.Account}
		if !k.Expires.IsZero() {
			g.expires = k.Expires.Unix()
		}
		f.ends = max(f.ends, cmp.Or(g.expires, math.MaxInt64))
		keys[k.SHA256] = g
	}
	f.keys.Store(&keys)
	f.loaded = sum
	return len(keys), true, nil
}
