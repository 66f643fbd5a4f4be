package httpapi_test

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"example.com/animalstore/internal/test/testserver"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

var testKeys = apikey.Static{"key-1": "alice", "key-2": "alice", "key-3": "bob"}

// server is a handler with its store, and what it logged and observed.
type server struct {
	*testing.T
	h     http.Handler
	store *memory.Store
	log   []string
	seen  []httpapi.Observation
}

// newServer serves the pets and messages of a store in memory.
func newServer(t *testing.T, opts *httpapi.Options) *server {
	s := &server{T: t, store: memory.New(nil)}
	s.h = s.handler(s.store, testKeys, opts)
	return s
}

// newFaultyServer serves a store whose operations return the error of fault.
func newFaultyServer(t *testing.T, fault func(context.Context) error) *server {
	s := newServer(t, nil)
	s.h = s.handler(stub(fault), testKeys, nil)
	return s
}

// stub returns a store that keeps nothing. Each operation of the contract returns the error
// of fault; a nil fault has none. CreatePet and SubmitMessage return what they were called with.
func stub(fault func(context.Context) error) *testserver.Double {
	if fault == nil {
		fault = func(context.Context) error { return nil }
	}
	d := testserver.NewDouble(nil)
	d.DoListPets = func(ctx context.Context, _ petstore.ListQuery) (petstore.Page, error) {
		return petstore.Page{}, fault(ctx)
	}
	d.DoCreatePet = func(ctx context.Context, p petstore.NewPet, _ petstore.IdempotencyKey) (petstore.Pet, error) {
		return petstore.Pet{ID: 1, NewPet: p}, fault(ctx)
	}
	d.DoGetPet = func(ctx context.Context, _ int64) (petstore.Pet, error) { return petstore.Pet{}, fault(ctx) }
	d.DoSubmitMessage = func(ctx context.Context, text string, _ petstore.IdempotencyKey) (petstore.Message, error) {
		return petstore.Message{Text: text}, fault(ctx)
	}
	return d
}

// handler returns a handler of pets and messages, with a logger and an observer.
func (s *server) handler(store interface {
	petstore.Service
	petstore.Messages
}, auth httpapi.Authenticator, opts *httpapi.Options) http.Handler {
	var o httpapi.Options
	if opts != nil {
		o = *opts
	}
	o.Messages, o.Logger = store, slog.New(slog.NewTextHandler(s, nil))
	o.Observe = func(_ *http.Request, o httpapi.Observation) { s.seen = append(s.seen, o) }
	return httpapi.New(store, auth, &o)
}

// Write adds a line of the log.
func (s *server) Write(line []byte) (int, error) {
	s.log = append(s.log, string(line))
	return len(line), nil
}

// stats returns what the store holds.
func (s *server) stats() petstore.Stats {
	s.Helper()
	stats, err := s.store.Stats(context.Background())
	if err != nil {
		s.Fatal(err)
	}
	return stats
}

// send passes a request, as a client writes it, to h and returns the response.
func send(t testing.TB, h http.Handler, raw string) response {
	t.Helper()
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
	if err != nil {
		t.Fatalf("%.500q: %v", raw, err)
	}
	return serve(t, h, r)
}

// serve passes r to h and returns the response.
func serve(t testing.TB, h http.Handler, r *http.Request) response {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	resp := w.Result()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response{resp.StatusCode, resp.Header, string(body)}
}

// serveAuthorized passes r to h with a credential.
func serveAuthorized(t testing.TB, h http.Handler, r *http.Request) response {
	t.Helper()
	r.Header.Set("Authorization", "Bearer key-1")
	return serve(t, h, r)
}

// request returns a request with a Host field and an empty line at its end.
func request(line string, fields ...string) string {
	head := append([]string{line + " HTTP/1.1", "Host: h"}, fields...)
	return strings.Join(head, "\r\n") + "\r\n\r\n"
}

const (
	authorized = "Authorization: Bearer key-1"
	isJSON     = "Content-Type: application/json"
	isChunked  = "Transfer-Encoding: chunked"
	hasID      = "X-Request-ID: the-id"

	rexBody     = `{"name":"rex","categoryId":1}`
	messageBody = `{"message":"hello"}`
)

// get returns a GET with a credential.
func get(target string, fields ...string) string {
	return request("GET "+target, append(fields, authorized)...)
}

// post returns a POST of JSON with a credential.
func post(target, body string, fields ...string) string {
	return postBare(target, body, append(fields, authorized, isJSON)...)
}

// postBare returns a POST with only these fields and the body's length.
func postBare(target, body string, fields ...string) string {
	return request("POST "+target, append(fields, "Content-Length: "+strconv.Itoa(len(body)))...) + body
}

// gets returns a GET of each target.
func gets(targets string) (requests []string) {
	for target := range strings.FieldsSeq(targets) {
		requests = append(requests, get(target))
	}
	return requests
}

// operations has a request for each operation.
var operations = map[string]string{
	"listPets":      get("/pets?limit=5", hasID),
	"createPet":     post("/pets", rexBody, hasID),
	"getPet":        get("/pets/1", hasID),
	"submitMessage": post("/messages", messageBody, hasID),
}
