package httpapi_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/petstoretest"
	"example.com/animalstore/petstore/storage/memory"
)

var testKeys = petstoretest.Keys{"key-1": "alice", "key-2": "alice", "key-3": "bob"}

// server is a listening server with its store, and what it logged and observed.
type server struct {
	*testing.T
	addr  string
	store *memory.Store
	log   recorder[string]
	seen  recorder[httpapi.Observation]
}

// newServer serves the pets and messages of a store in memory.
func newServer(t *testing.T, opts *httpapi.Options) *server {
	t.Helper()
	s := &server{T: t, store: memory.New(nil)}
	s.serve(newHandler(s.store, testKeys, s.options(opts)))
	return s
}

// newFaultyServer is newServer with a faulty store.
func newFaultyServer(t *testing.T, opts *httpapi.Options, fault func(context.Context) error) *server {
	t.Helper()
	s := &server{T: t, store: memory.New(nil)}
	s.serve(newHandler(faulty{s.store, fault}, testKeys, s.options(opts)))
	return s
}

// options returns opts with a logger and an observer.
func (s *server) options(opts *httpapi.Options) *httpapi.Options {
	var o httpapi.Options
	if opts != nil {
		o = *opts
	}
	o.Logger = newLogger(&s.log)
	if o.Observe == nil {
		o.Observe = func(_ *http.Request, o httpapi.Observation) { s.seen.add(o) }
	}
	return &o
}

// serve makes the server serve h.
func (s *server) serve(h http.Handler) { s.addr = listen(s, h) }

// store is a store of pets and messages.
type store interface {
	petstore.Service
	petstore.Messages
}

// newHandler returns the handler of the pets and messages of s.
func newHandler(s store, auth httpapi.Authenticator, opts *httpapi.Options) http.Handler {
	var o httpapi.Options
	if opts != nil {
		o = *opts
	}
	o.Messages = s
	return httpapi.New(s, auth, &o)
}

// listen serves h on a real socket until the test is over, and returns its
// address.
func listen(t testing.TB, h http.Handler, configure ...func(*http.Server)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: h}
	for _, f := range configure {
		f(srv)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(ln)
	}()
	t.Cleanup(func() {
		_ = srv.Close()
		<-done
	})
	return ln.Addr().String()
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

// add stores pets with these names. Pets whose name starts with "sold" are sold.
func (s *server) add(names ...string) {
	s.Helper()
	for i, name := range names {
		p := petstore.NewPet{Name: name, CategoryID: int64(i)}
		if strings.HasPrefix(name, "sold") {
			p.Status = petstore.StatusSold
		}
		if _, err := s.store.CreatePet(context.Background(), p, petstore.Once{}); err != nil {
			s.Fatal(err)
		}
	}
}

// connection is a client's connection.
type connection struct {
	testing.TB
	net.Conn
	in *bufio.Reader
}

// dial opens a connection that is closed when the test ends.
func dial(t testing.TB, addr string) connection {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(5 * time.Minute)) // the machine may be busy
	return connection{t, conn, bufio.NewReader(conn)}
}

// closeWrite closes the client's side of a connection made by dial.
func (c connection) closeWrite() { _ = c.Conn.(*net.TCPConn).CloseWrite() }

// write sends raw bytes. It ignores errors: they mean that the server has closed
// the connection, and reading the response shows that.
func (c connection) write(raw string) { _, _ = io.WriteString(c, raw) }

// next returns the next response, which is to a request of that method.
func (c connection) next(method string) response {
	c.Helper()
	resp, err := http.ReadResponse(c.in, &http.Request{Method: method})
	if err != nil {
		c.Fatal(err)
	}
	return readResponse(c, resp)
}

func readResponse(t testing.TB, resp *http.Response) response {
	t.Helper()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return response{Status: resp.StatusCode, Header: resp.Header, Body: string(body), Closes: resp.Close}
}

// rest returns everything that the server sends until it closes the connection.
func (c connection) rest() string {
	rest, _ := io.ReadAll(c.in) // the connection may be reset after the response
	return string(rest)
}

// exchange sends a request and returns the response and all that follows it.
func (c connection) exchange(raw string) response {
	c.Helper()
	// A server that has refused a large body may stop reading it.
	go c.write(raw)
	method, _, _ := strings.Cut(raw, " ")
	r := c.next(method)
	c.closeWrite()
	r.Rest = c.rest()
	_ = c.Close()
	return r
}

// send sends raw bytes on a new connection and returns the response and all
// that follows it.
func send(t testing.TB, addr, raw string) response {
	t.Helper()
	return dial(t, addr).exchange(raw)
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

// gets returns a GET of each target that starts with prefix and ends with one of
// the words.
func gets(prefix, words string) (requests []string) {
	for word := range strings.FieldsSeq(words) {
		requests = append(requests, get(prefix+word))
	}
	return requests
}

// operations has a request for each operation.
var operations = map[string]string{
	"listPets":      get("/pets", "X-Request-ID: the-id"),
	"createPet":     post("/pets", rexBody, "X-Request-ID: the-id"),
	"getPet":        get("/pets/1", "X-Request-ID: the-id"),
	"submitMessage": post("/messages", messageBody, "X-Request-ID: the-id"),
}
