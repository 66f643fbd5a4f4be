package petstoretest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/animalstore/petstore"
)

// difficulties makes one server difficult.
type difficulties struct {
	seed      uint64
	base      string // the path of the base address
	elsewhere string // the base URL of the other address, which must not receive a key
	active    []difficulty
	watcher   *watcher

	mu       sync.Mutex
	requests int

	// interrupted holds the names of the difficulties that have interrupted an
	// exchange.
	interrupted map[string]bool

	// history has one bit for each of the latest 64 equal requests: 1 if the
	// request was interrupted. The lowest bit is the newest request.
	history map[digest]uint64
}

func newDifficulties(c config) (*difficulties, error) {
	active, err := choose(c.seed, c.names)
	if err != nil {
		return nil, err
	}
	return &difficulties{
		seed: c.seed, base: c.base, active: active,
		watcher:     newWatcher(active, slices.Sorted(maps.Keys(c.keys))...),
		interrupted: map[string]bool{},
		history:     map[digest]uint64{},
	}, nil
}

// random returns a source of random numbers. It depends only on the arguments: n
// is the number of a decision, and name says what is decided.
func random(seed uint64, name string, n int64) *rand.Rand {
	return rand.New(rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "%d %s %d", seed, name, n))))
}

// view returns the store as the server shows it.
func (d *difficulties) view(store petstore.Service) petstore.Service {
	v := &view{Service: store}
	for _, a := range d.active {
		if a.show != nil {
			a.show(v, d.seed)
		}
	}
	return v
}

// handler returns next with the difficulties added.
func (d *difficulties) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := d.begin(r)
		d.act(x, func(a difficulty) action { return a.before })
		if x.status == 0 && !x.cut {
			x.serve(next, r)
		}
		if !x.cut {
			d.act(x, func(a difficulty) action { return a.after })
		}
		time.Sleep(x.delay)
		d.see(x)
		x.send(w)
	})
}

// watched returns a handler for the other address. It has no difficulties, and
// passes its exchanges to the watcher.
func (d *difficulties) watched(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := d.begin(r)
		x.other = true
		x.serve(next, r)
		d.see(x)
		x.send(w)
	})
}

// maxRequest is how many bytes of a request body are read. It is more than the
// server accepts.
const maxRequest = 2 << 20

// begin reads a request and returns its exchange.
func (d *difficulties) begin(r *http.Request) *exchange {
	x := &exchange{
		began: time.Now(), elsewhere: d.elsewhere,
		method: r.Method, path: strings.TrimPrefix(r.URL.Path, d.base), query: r.URL.RawQuery, sent: r.Header.Clone(),
		header: http.Header{},
	}
	if r.ProtoMajor == 1 {
		x.client = r.RemoteAddr
	}
	var err error
	if x.body, err = io.ReadAll(io.LimitReader(r.Body, maxRequest)); err != nil {
		panic(http.ErrAbortHandler) // the client went away
	}
	r.Body = io.NopCloser(bytes.NewReader(x.body))
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests++
	x.number = d.requests
	d.history[x.request()] <<= 1
	return x
}

// act applies one hook of the difficulties to x, until a difficulty interrupts x.
func (d *difficulties) act(x *exchange, hook func(difficulty) action) {
	for _, a := range d.active {
		act, r := hook(a), random(d.seed, a.name, int64(x.number))
		if act == nil || r.IntN(max(a.often, 1)) > 0 || a.interrupts && !d.mayInterrupt(x, a.name) || !act(x, r) {
			continue
		}
		x.met = append(x.met, a.name)
		if a.interrupts {
			return
		}
	}
}

// mayInterrupt reports whether the difficulty with that name may refuse or lose x. If
// so, it records that it does. It allows two of 64 equal requests. So a client that
// sends a request three times gets a response, even if others send equal requests.
func (d *difficulties) mayInterrupt(x *exchange, name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := d.history[x.request()]
	if bits.OnesCount64(h) == 2 {
		return false
	}
	d.history[x.request()] = h | 1
	x.first = !d.interrupted[name]
	d.interrupted[name] = true
	return true
}

// see passes x to the watcher.
func (d *difficulties) see(x *exchange) {
	seen := *x
	if seen.cut { // the client may have read the header, and follow a Link in it
		seen.status, seen.response = 0, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	seen.ended = time.Now()
	d.watcher.see(&seen)
}

// serve lets next handle the request, and keeps the response in x.
func (x *exchange) serve(next http.Handler, r *http.Request) {
	rec := httptest.NewRecorder()
	next.ServeHTTP(rec, r)
	x.done = rec.Code < 400
	x.status, x.header, x.response = rec.Code, rec.Header(), rec.Body.Bytes()
	x.header.Del("Content-Length")
}
