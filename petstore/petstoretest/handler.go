package petstoretest

import (
	"bytes"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// difficult is the handler of a difficult server. It finds mistakes of the clients.
type difficult struct {
	Options
	active []difficulty
	next   http.Handler
	shown  sync.Map // the IDs of pets in responses, with the difficulty ids

	mu          sync.Mutex
	seen        Summary
	interrupted map[string]int // how often a request was refused or lost

	created map[string]*exchange // the last creations that were carried out, by [exchange.creation]
	busy    *exchange            // the first creation that was asked to wait
}

func newDifficult(o Options, next http.Handler) (*difficult, error) {
	active, err := choose(o.Difficult.Names, o.Handler != nil)
	if err != nil {
		return nil, err
	}
	d := &difficult{
		Options: o, active: active, next: next,
		seen: Summary{Met: map[string]int{}}, interrupted: map[string]int{}, created: map[string]*exchange{},
	}
	for _, a := range active {
		d.seen.Met[a.name] = 0
	}
	return d, nil
}

// exchange is a request of the client and its response.
type exchange struct {
	server       *difficult
	began, ended time.Time

	method string
	target string // as the client sent it
	path   string // unescaped, after the base path, such as /pets/7
	query  string
	sent   http.Header
	body   []byte // of the request
	limit  int    // of a page that was shortened

	done     bool // the operation was carried out
	status   int  // of the response; 0: the connection is cut before the response
	header   http.Header
	response []byte // the body
	met      []string
	mustWait bool // a creation is refused, and Retry-After asks to wait
	cut      bool // the connection is closed before the response ends
}

// ServeHTTP implements [http.Handler].
func (d *difficult) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, d.Prefix+"/") { // another page of an own handler
		d.next.ServeHTTP(w, r)
		return
	}
	x, random := d.begin(r)
	switch d.interruption(x, random) {
	case "busy":
		x.refuse(random)
	case "lost":
		if random.IntN(3) > 0 {
			x.serve(d.next, r)
		}
		x.cut = true
		if random.IntN(2) == 0 {
			x.status = 0 // no part of the response is sent
		}
	default:
		x.serve(d.next, r)
	}
	for _, a := range d.active {
		if a.apply != nil && random.IntN(a.often) == 0 && a.apply(x, random) && !x.cut {
			x.met = append(x.met, a.name)
		}
	}
	d.see(x)
	x.send(w)
}

// begin reads a request and returns its exchange, with a source of random numbers that
// depends only on the seed and the number of the request.
func (d *difficult) begin(r *http.Request) (*exchange, *rand.Rand) {
	x := &exchange{
		began: time.Now(), server: d, header: http.Header{},
		method: r.Method, target: r.RequestURI, path: strings.TrimPrefix(r.URL.Path, d.Prefix), query: r.URL.RawQuery, sent: r.Header.Clone(),
	}
	var err error
	if x.body, err = io.ReadAll(r.Body); err != nil {
		panic(http.ErrAbortHandler) // the client went away
	}
	r.Body = io.NopCloser(bytes.NewReader(x.body))
	r.Header.Del("Accept-Encoding") // a difficulty changes only what is not compressed
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen.Requests++
	random := rand.New(rand.NewPCG(d.Difficult.Seed, uint64(d.seen.Requests)))
	for _, a := range slices.Backward(d.active) {
		if a.ask != nil {
			a.ask(x, r, random)
		}
	}
	return x, random
}

// interruption returns "busy" or "lost" if x is to be refused or lost. The first busy
// response to a creation asks to wait: only there the server can prove that the client
// does.
func (d *difficult) interruption(x *exchange, random *rand.Rand) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.active {
		if a.apply == nil && random.IntN(a.often) == 0 && d.interrupted[x.request()] < 2 {
			d.interrupted[x.request()]++
			x.met = append(x.met, a.name)
			if a.name == "busy" && x.isCreate() && d.busy == nil {
				x.mustWait, d.busy = true, x
			}
			return a.name
		}
	}
	return ""
}

// serve lets next handle the request, and keeps the response in x.
func (x *exchange) serve(next http.Handler, r *http.Request) {
	rec := httptest.NewRecorder()
	next.ServeHTTP(rec, r)
	x.done = rec.Code/100 == 2
	x.status, x.header, x.response = rec.Code, rec.Header(), rec.Body.Bytes()
	x.header.Del("Content-Length")
}

// send sends the response, or the part of it that the client receives.
func (x *exchange) send(w http.ResponseWriter) {
	if x.status == 0 {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), x.header)
	if x.method != http.MethodHead {
		w.Header().Set("Content-Length", strconv.Itoa(len(x.response)))
	}
	w.WriteHeader(x.status)
	if x.cut {
		_, _ = w.Write(x.response[:len(x.response)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(x.response)
}

func (x *exchange) isCreate() bool {
	return x.method == "POST" && (x.path == "/pets" || x.path == "/messages")
}

// creation is the same for all requests of an account to create equal pets or messages.
func (x *exchange) creation() string {
	return strings.Join([]string{x.path, x.sent.Get("Authorization"), string(x.body)}, "\n")
}

// request is the same for a request and its repetitions.
func (x *exchange) request() string {
	return strings.Join([]string{x.method, x.query, x.idempotencyKey(), x.creation()}, "\n")
}

func (x *exchange) idempotencyKey() string { return x.sent.Get("Idempotency-Key") }
