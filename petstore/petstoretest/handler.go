package petstoretest

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// Key is the API key that a [Handler] accepts. As real keys have, it has letters of both
// cases and other characters.
const Key = "Petstore_Test-Key0123456789abcXYZ"

// basePath is the path before /pets.
const basePath = "/v1"

// Handler is a server of pets and messages as an [http.Handler], which [NewHandler] makes. It
// serves /v1, with an empty store in memory. It looks for mistakes of its clients.
type Handler struct {
	// Log receives a line for each request, which says what the client is sent. nil: no
	// lines are written. It must be set before the first request.
	Log io.Writer

	difficult *Difficulty // nil: there are no difficulties
	store     store
	next      http.Handler // of the store

	mu    sync.Mutex
	began uint64 // how many requests
	seen  Summary

	failures   map[string]int         // how often a request was refused or lost, by identity
	created    map[string]*exchange   // the last creation that was carried out, by identity
	unrepeated map[string][]*exchange // the failures that no equal request has followed, by identity
	mustWait   *exchange              // the first creation that was asked to wait
	links      map[string]bool        // the queries of links to a next page: whether they were followed
}

// NewHandler returns a handler with these difficulties. If d is nil, it has none.
func NewHandler(d *Difficulty) (*Handler, error) {
	h := &Handler{
		difficult:  d,
		seen:       Summary{Requests: map[string]int{}, Refused: map[int]int{}, Met: map[string]int{}},
		failures:   map[string]int{},
		created:    map[string]*exchange{},
		unrepeated: map[string][]*exchange{},
		links:      map[string]bool{},
	}
	if d != nil {
		if err := d.check(); err != nil {
			return nil, err
		}
	}
	for _, name := range difficulties {
		if h.has(name) {
			h.seen.Met[name] = 0
		}
	}
	h.store = store{memory.New(nil), h}
	api := httpapi.New(h.store, apikey.Static{Key: "tester"}, &httpapi.Options{Messages: h.store})
	h.next = http.StripPrefix(basePath, api)
	return h, nil
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x, random := h.begin(r)
	switch x.failure = h.failure(x, random); x.failure {
	case "busy":
		h.refuse(x, random)
	case "lost":
		x.cut = true
		if random.IntN(3) > 0 {
			x.carryOut(h.next)
		}
		if random.IntN(2) == 0 || x.status/100 != 2 { // the status alone may mean enough
			x.status, x.response = 0, nil
		}
	default:
		x.carryOut(h.next)
	}
	for _, name := range difficulties {
		change := changes[name]
		if change != nil && h.has(name) && random.IntN(2) == 0 && change(x, random) {
			h.met(name)
		}
	}
	h.see(x)
	x.send(w)
}

// begin reads a request and returns its exchange, with a source of random numbers that
// depends only on the seed and on how many requests came before.
func (h *Handler) begin(r *http.Request) (*exchange, *rand.Rand) {
	x := &exchange{request: r, began: time.Now(), header: http.Header{}}
	var err error
	if x.body, err = io.ReadAll(r.Body); err != nil {
		panic(http.ErrAbortHandler) // the client went away
	}
	r.Body = io.NopCloser(bytes.NewReader(x.body))
	r.Header.Del("Accept-Encoding") // a compressed response cannot be changed
	h.mu.Lock()
	defer h.mu.Unlock()
	h.began++
	seed := uint64(0)
	if h.difficult != nil {
		seed = h.difficult.Seed
	}
	return x, rand.New(rand.NewPCG(seed, h.began))
}
