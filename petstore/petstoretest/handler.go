package petstoretest

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// Key is the API key that a [Handler] accepts.
const Key = "Petstore_Test-Key0123456789abcXYZ"

const basePath = "/v1"

// Handler is a server of pets and messages as an [http.Handler]. It serves /v1.
type Handler struct {
	// Log receives a line for each request and what the client is sent. It must be set before
	// the first request. nil: nothing is logged.
	Log io.Writer

	options Options
	store   *memory.Store
	next    http.Handler // of the store

	mu       sync.Mutex
	random   *rand.Rand
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
		store:    memory.New(nil),
		failures: map[string]int{}, repeat: map[string][]*exchange{}, created: map[string]*exchange{}, links: map[string]bool{},
	}
	if opts != nil {
		h.options = *opts
	}
	h.random = rand.New(rand.NewPCG(h.options.Seed, 0))
	var pets petstore.Service = h.store
	if h.options.Difficult {
		pets = difficult{h.store}
	}
	h.next = http.StripPrefix(basePath, httpapi.New(pets, apikey.Static{Key: "tester"}, &httpapi.Options{Messages: h.store}))
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

func (x *exchange) creates() bool { return x.request.Method == "POST" }

// identity is the same for equal requests, with any Idempotency-Key.
func (x *exchange) identity() string {
	return fmt.Sprintf("%s %s %s", x.request.Method, x.request.RequestURI, x.body)
}

func (x *exchange) key() string { return x.request.Header.Get("Idempotency-Key") }

// ServeHTTP implements [http.Handler]. If the response is lost, it panics with
// [http.ErrAbortHandler]: serve it over a connection, not with httptest.NewRecorder.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{request: r, began: time.Now()}
	var err error
	if x.body, err = io.ReadAll(r.Body); err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(x.body))
	r.Header.Del("Accept-Encoding") // a compressed response cannot be changed

	h.mu.Lock()
	way := h.random.IntN(24)
	if x.failed = h.options.Difficult && way < 5 && h.failures[x.identity()] < 2; x.failed {
		h.failures[x.identity()]++
	}
	h.mu.Unlock()
	switch {
	case !x.failed:
		x.carryOut(h.next)
	case way < 2:
		h.refuse(x)
	case way == 2: // lost before it is carried out
		x.cut = true
	default: // lost before the response, or in the middle of it, but not of an error: the status says enough
		x.carryOut(h.next)
		if x.cut = true; way == 3 || !x.done {
			x.status = 0
		}
	}
	if h.options.Difficult {
		x.change(h.options.Seed)
	}
	h.see(x)

	if x.status == 0 {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), x.header)
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

// unusual replaces beginnings of objects. Strings have none: quotes in them are escaped.
var unusual = strings.NewReplacer(
	`{"id":`, `{"_links":{"id":[0]},"id":`, // an additional member
	`{"code":"`, `{"_links":[{}],"code":"E-`, // and an unknown code
)

// change gives the response another form that the contract allows.
func (x *exchange) change(seed uint64) {
	if x.status == http.StatusAccepted { // of a message: the contract has none
		x.status = 200 + int((crc32.ChecksumIEEE(x.body)+uint32(seed))%3) // the same if it is repeated
	}
	body := jsontext.Value(unusual.Replace(string(x.response)))
	if body.Indent(jsontext.ReorderRawObjects(true)) == nil { // HEAD has no body
		x.response = body
		x.header.Set("Content-Length", fmt.Sprint(len(body)))
	}
}

// refuse makes x a response of a busy server. The first one to a creation asks the client to
// wait: an equal read may be another. Tests stay fast.
func (h *Handler) refuse(x *exchange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	after := "0"
	if h.mustWait == nil && x.creates() {
		h.mustWait, after = x, "1"
		if h.random.IntN(2) == 0 { // a date, without the fraction of the second
			after = time.Now().Add(3 * time.Second).UTC().Format(http.TimeFormat)
		}
	}
	x.status = []int{429, 503}[h.random.IntN(2)]
	x.header = http.Header{"Content-Type": {"application/json"}, "Retry-After": {after}}
	x.response = fmt.Appendf(nil, `{"code":"unavailable","message":"busy","status":%d}`, x.status)
}
