package petstoretest

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// Key is the API key that a [Handler] accepts.
const Key = "Petstore_Test-Key0123456789abcXYZ"

// basePath is the path before /pets.
const basePath = "/v1"

// Handler is a server of pets and messages as an [http.Handler]. It serves /v1.
type Handler struct {
	// Log receives a line for each request and what the client is sent, if it is not nil. It
	// must be set before the first request.
	Log io.Writer

	options Options
	store   store
	next    http.Handler // of the store

	mu       sync.Mutex
	began    uint64 // how many requests
	seen     Summary
	failures map[string]int         // how often a request was refused or lost, by identity
	repeat   map[string][]*exchange // those that no equal request has followed
	created  map[string]*exchange   // the last creation that was carried out, by identity
	mustWait *exchange              // the first creation that was asked to wait
	links    map[string]bool        // the links to a next page: whether they were followed
}

// NewHandler returns a handler. opts may be nil.
func NewHandler(opts *Options) *Handler {
	h := &Handler{
		failures: map[string]int{}, repeat: map[string][]*exchange{}, created: map[string]*exchange{}, links: map[string]bool{},
	}
	if opts != nil {
		h.options = *opts
	}
	h.store = store{memory.New(nil), h.options.Difficult}
	h.next = http.StripPrefix(basePath, httpapi.New(h.store, apikey.Static{Key: "tester"}, &httpapi.Options{Messages: h.store}))
	return h
}

// exchange is a request of a client and its response.
type exchange struct {
	request      *http.Request
	body         []byte // of the request
	began, ended time.Time

	failed   bool // because of a difficulty
	status   int  // of the response; 0: nothing is sent
	header   http.Header
	response []byte // the body
	cut      bool   // the client does not get the whole response
	done     bool   // the operation was carried out
}

func (x *exchange) path() string { return strings.TrimPrefix(x.request.URL.Path, basePath) }

func (x *exchange) creates() bool {
	return x.request.Method == "POST" && (x.path() == "/pets" || x.path() == "/messages")
}

// identity is the same for equal requests of an account, with any Idempotency-Key.
func (x *exchange) identity() string {
	r := x.request
	return strings.Join([]string{r.Method, r.RequestURI, r.Header.Get("Authorization"), string(x.body)}, "\n")
}

func (x *exchange) key() string { return x.request.Header.Get("Idempotency-Key") }

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{request: r, began: time.Now(), header: http.Header{}}
	var err error
	if x.body, err = io.ReadAll(r.Body); err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(x.body))
	r.Header.Del("Accept-Encoding") // a compressed response cannot be changed

	h.mu.Lock()
	h.began++
	random := rand.New(rand.NewPCG(h.options.Seed, h.began)) // the same in each run
	way := random.IntN(24)
	if x.failed = h.options.Difficult && way < 5 && h.failures[x.identity()] < 2; x.failed {
		h.failures[x.identity()]++
	}
	h.mu.Unlock()
	switch {
	case !x.failed:
		x.carryOut(h.next)
	case way < 2:
		h.refuse(x, random)
	case way == 2: // lost before it is carried out
		x.cut = true
	default: // lost before the response, as each error is, since its status alone says enough, or in the middle of it
		x.carryOut(h.next)
		if x.cut = true; way == 3 || !x.done {
			x.status = 0
		}
	}
	if h.options.Difficult {
		x.response = bytes.ReplaceAll(x.response, []byte(`{"id":`), []byte(`{"_links":{"id":[0]},"id":`)) // not part of a string
	}
	h.see(x)

	if x.status == 0 {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), x.header)
	if r.Method != http.MethodHead {
		w.Header().Set("Content-Length", fmt.Sprint(len(x.response)))
	}
	w.WriteHeader(x.status)
	if x.cut {
		_, _ = w.Write(x.response[:len(x.response)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(x.response)
}

func (x *exchange) carryOut(next http.Handler) {
	rec := httptest.NewRecorder()
	next.ServeHTTP(rec, x.request)
	x.status, x.header, x.response, x.done = rec.Code, rec.Header(), rec.Body.Bytes(), rec.Code/100 == 2
}

// refuse makes x a response of a busy server. The first one to a creation asks the client to
// wait: only there the server can prove whether it does. Tests stay fast.
func (h *Handler) refuse(x *exchange, random *rand.Rand) {
	after := "0"
	h.mu.Lock()
	if h.mustWait == nil && x.creates() {
		h.mustWait, after = x, "1"
		if random.IntN(2) == 0 { // a date, without the fraction of the second
			after = time.Now().Add(3 * time.Second).UTC().Format(http.TimeFormat)
		}
	}
	h.mu.Unlock()
	x.status = []int{429, 503}[random.IntN(2)]
	x.header = http.Header{"Content-Type": {"application/json"}, "Retry-After": {after}}
	x.response = fmt.Appendf(nil, `{"code":"unavailable","message":"busy","status":%d}`, x.status)
}
