package httpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// keys are API keys with the account of each.
type keys map[string]string

var testKeys = keys{"key-1": "alice", "key-2": "alice", "key-3": "bob"}

func (k keys) Authenticate(_ context.Context, key string) (string, error) {
	if account, ok := k[key]; ok {
		return account, nil
	}
	return "", petstore.Errorf(petstore.CodeUnauthorized, "this API key is unknown")
}

// server is a listening server of pets and messages, with its store.
type server struct {
	t     *testing.T
	store *memory.Store
	addr  string
}

// newServer serves a store in memory.
func newServer(t *testing.T, opts *httpapi.Options) *server {
	t.Helper()
	store := memory.New(nil)
	return &server{t, store, listen(t, newHandler(store, testKeys, opts))}
}

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
	srv := &http.Server{Handler: recorded(t, h)}
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

// response is a response as it came.
type response struct {
	status int
	header http.Header
	body   string
	closes bool   // the server closes the connection
	rest   string // what came after it on the connection
}

// dial opens a connection that is closed when the test ends.
func dial(t testing.TB, addr string) (*net.TCPConn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	return conn.(*net.TCPConn), bufio.NewReader(conn)
}

// read reads the next response, to a request of that method.
func read(br *bufio.Reader, method string) (response, error) {
	resp, err := http.ReadResponse(br, &http.Request{Method: method})
	if err != nil {
		return response{}, err
	}
	body, err := io.ReadAll(resp.Body)
	return response{status: resp.StatusCode, header: resp.Header, body: string(body), closes: resp.Close}, err
}

// next is read for a response that must come, to a GET or POST.
func next(t testing.TB, br *bufio.Reader) response {
	t.Helper()
	r, err := read(br, "GET")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// send sends raw bytes on a new connection and returns the response and all
// that follows it.
func send(t testing.TB, addr, raw string) response {
	t.Helper()
	conn, br := dial(t, addr)
	return exchange(t, conn, br, raw)
}

func exchange(t testing.TB, conn *net.TCPConn, br *bufio.Reader, raw string) response {
	t.Helper()
	// A server that has refused a large body may stop reading it.
	go func() { _, _ = io.WriteString(conn, raw) }()
	method, _, _ := strings.Cut(raw, " ")
	r, err := read(br, method)
	if err != nil {
		t.Fatalf("response to %.300q: %v", raw, err)
	}
	_ = conn.CloseWrite()
	rest, _ := io.ReadAll(br) // an error is a connection reset after the response
	_ = conn.Close()
	r.rest = string(rest)
	return r
}

// request returns a request with a Host field and an empty line at its end.
func request(line string, fields ...string) string {
	head := append([]string{line + " HTTP/1.1", "Host: h"}, fields...)
	return strings.Join(head, "\r\n") + "\r\n\r\n"
}

const (
	authorized = "Authorization: Bearer key-1"
	isJSON     = "Content-Type: application/json"
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

// want is what a case expects of a response.
type want struct {
	status int
	code   string            // of the Error body; "": a success
	says   string            // part of the Error's message: what is at fault
	body   string            // of a success; "": not compared
	header map[string]string // fields, in canonical form; "": must be absent
}

var want200 = want{status: 200}

func bad(says string) want { return want{status: 400, code: "invalid", says: says} }

// check compares a response with w, and with what must hold for all responses.
func (a response) check(w want) error {
	if a.status != w.status {
		return fmt.Errorf("status %d, want %d; body %.300q", a.status, w.status, a.body)
	}
	if a.rest != "" {
		return fmt.Errorf("more came after the response: %.300q", a.rest)
	}
	for name, value := range w.header {
		got := strings.Join(a.header[name], " | ")
		if got != value {
			return fmt.Errorf("%s: %q, want %q", name, got, value)
		}
	}
	if got := a.header.Get("Content-Type"); got != "application/json" {
		return fmt.Errorf("Content-Type: %q", got)
	}
	if got := a.header.Get("Content-Length"); got != strconv.Itoa(len(a.body)) {
		return fmt.Errorf("Content-Length: %q for %d bytes", got, len(a.body))
	}
	if w.status < 400 {
		if w.body != "" && a.body != w.body {
			return fmt.Errorf("body (-want +got):\n%s", cmp.Diff(w.body, a.body))
		}
		return nil
	}
	return a.checkError(w)
}

// checkError compares an Error body byte for byte, and the header fields that
// come with it.
func (a response) checkError(w want) error {
	var e struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Status  int    `json:"status"`
	}
	dec := json.NewDecoder(strings.NewReader(a.body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		return fmt.Errorf("Error body %q: %v", a.body, err)
	}
	// The form is exact: no white space, this order, nothing but a client's
	// own bytes escaped.
	var exact bytes.Buffer
	enc := json.NewEncoder(&exact)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(e)
	if got := strings.TrimSuffix(exact.String(), "\n"); got != a.body {
		return fmt.Errorf("Error body (-want +got):\n%s", cmp.Diff(got, a.body))
	}
	switch {
	case e.Status != w.status:
		return fmt.Errorf("Error status %d, want %d", e.Status, w.status)
	case e.Code != w.code:
		return fmt.Errorf("Error code %q, want %q (%s)", e.Code, w.code, e.Message)
	case e.Message == "" || !strings.Contains(e.Message, w.says):
		return fmt.Errorf("Error message %q does not say %q", e.Message, w.says)
	case a.header.Get("X-Request-Id") == "":
		return fmt.Errorf("no X-Request-Id")
	case (w.status == 401) != (a.header.Get("Www-Authenticate") != ""):
		return fmt.Errorf("WWW-Authenticate: %q with %d", a.header.Get("Www-Authenticate"), w.status)
	case (w.status == 405) != (a.header.Get("Allow") != ""):
		return fmt.Errorf("Allow: %q with %d", a.header.Get("Allow"), w.status)
	case (w.status == 503) != (a.header.Get("Retry-After") != ""):
		return fmt.Errorf("Retry-After: %q with %d", a.header.Get("Retry-After"), w.status)
	case strings.Contains(a.body, "key-"):
		return fmt.Errorf("the key was echoed: %s", a.body)
	}
	return nil
}

// rawCase is a request and the response that it must get.
type rawCase struct {
	name string
	send string
	want want
}

// run sends every case, and checks that a refused request has stored nothing.
func (s *server) run(cases []rawCase) {
	for _, c := range cases {
		s.t.Run(c.name, func(t *testing.T) {
			before := s.stats(t)
			if err := send(t, s.addr, c.send).check(c.want); err != nil {
				t.Errorf("%.500q\n%v", c.send, err)
			}
			if after := s.stats(t); c.want.status >= 400 && after != before {
				t.Errorf("%.500q\nstored something: %+v, before %+v", c.send, after, before)
			}
		})
	}
}

func (s *server) stats(t *testing.T) petstore.Stats {
	t.Helper()
	stats, err := s.store.Stats(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// add stores pets with these names. Those whose name starts with "sold" are.
func (s *server) add(names ...string) {
	s.t.Helper()
	for i, name := range names {
		p := petstore.NewPet{Name: name, CategoryID: int64(i)}
		if strings.HasPrefix(name, "sold") {
			p.Status = petstore.StatusSold
		}
		if _, err := s.store.CreatePet(context.Background(), p, petstore.Once{}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// decodePets decodes a list.
func decodePets(t *testing.T, body string) []petstore.Pet {
	t.Helper()
	var pets []petstore.Pet
	if err := json.Unmarshal([]byte(body), &pets); err != nil {
		t.Fatalf("list %.300q: %v", body, err)
	}
	return pets
}
