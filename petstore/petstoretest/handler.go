package petstoretest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/animalstore/petstore"
)

// difficulties are those of one server.
type difficulties struct {
	seed      uint64
	base      string // path
	active    []difficulty
	elsewhere string // base address to which no key belongs
	watcher   *watcher

	mu          sync.Mutex
	requests    int
	interrupted map[string]int // by text of a request: how often in a row
}

func newDifficulties(c config) (*difficulties, error) {
	active, err := choose(c.seed, c.names)
	if err != nil {
		return nil, err
	}
	return &difficulties{seed: c.seed, base: c.base, active: active, watcher: newWatcher(slices.Sorted(maps.Keys(c.keys))...), interrupted: map[string]int{}}, nil
}

// view returns what the server shows of a store.
func (d *difficulties) view(store petstore.Service) petstore.Service {
	v := &view{Service: store}
	for _, a := range d.active {
		if a.show != nil {
			a.show(v, d.seed)
		}
	}
	return v
}

// random returns the random numbers for the n-th decision of a difficulty.
func random(seed uint64, name string, n int64) *rand.Rand {
	return rand.New(rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "%d %s %d", seed, name, n))))
}

// handler returns next with the difficulties. other: it is that of the other
// address, which has none and is only watched.
func (d *difficulties) handler(next http.Handler, other bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := d.begin(r, other)
		if !x.other {
			d.act(x, func(a difficulty) action { return a.before })
		}
		if x.status == 0 && !x.cut {
			rec := httptest.NewRecorder()
			next.ServeHTTP(rec, r)
			x.done = rec.Code < 400
			x.status, x.header, x.response = rec.Code, rec.Header(), rec.Body.Bytes()
			x.header.Del("Content-Length")
		}
		if !x.other && !x.cut {
			d.act(x, func(a difficulty) action { return a.after })
		}
		time.Sleep(x.delay)
		d.end(x)
		x.send(w)
	})
}

// begin returns the exchange of a request, which it reads.
func (d *difficulties) begin(r *http.Request, other bool) *exchange {
	x := &exchange{client: r.RemoteAddr, began: time.Now(), other: other, elsewhere: d.elsewhere, header: http.Header{}}
	x.method, x.path, x.query, x.sent = r.Method, strings.TrimPrefix(r.URL.Path, d.base), r.URL.RawQuery, r.Header.Clone()
	var err error
	if x.body, err = io.ReadAll(r.Body); err != nil {
		panic(http.ErrAbortHandler) // the client went away
	}
	r.Body = io.NopCloser(bytes.NewReader(x.body))
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests++
	x.number = d.requests
	return x
}

// act lets the difficulties act on x, until one interrupts it.
func (d *difficulties) act(x *exchange, hook func(difficulty) action) {
	for _, a := range d.active {
		act := hook(a)
		if act == nil {
			continue
		}
		r := random(d.seed, a.Name, int64(x.number))
		if r.IntN(a.often) == 0 && (!a.interrupts || d.mayInterrupt(x)) && act(x, r) {
			x.met = append(x.met, a.Name)
			if a.interrupts {
				return
			}
		}
	}
}

// mayInterrupt reports whether x may be refused or lost: at most two of equal
// requests in a row are.
func (d *difficulties) mayInterrupt(x *exchange) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.interrupted[x.text()] < 2
}

// end passes x to the watcher.
func (d *difficulties) end(x *exchange) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if slices.ContainsFunc(d.active, func(a difficulty) bool { return a.interrupts && slices.Contains(x.met, a.Name) }) {
		d.interrupted[x.text()]++
	} else {
		delete(d.interrupted, x.text())
	}
	seen := *x
	seen.ended = time.Now()
	if seen.cut {
		seen.status, seen.header, seen.response = 0, nil, nil
	}
	d.watcher.see(&seen)
}
