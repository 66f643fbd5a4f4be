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

// keys are the API keys of the tests, with the account of each: the second is
// the first one's successor.
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

// answer is a response as it came.
type answer struct {
	status int
	header http.Header
	body   string
	rest   string // what came after it on the connection
}

// send sends raw bytes on a connection of their own and returns the answer.
func send(t testing.TB, addr, raw string) answer {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	// A server that has refused a large body may stop reading it.
	go func() { _, _ = io.WriteString(conn, raw) }()
	return receive(t, conn, raw)
}

// receive reads the answer to raw, and then all that follows it.
func receive(t testing.TB, conn net.Conn, raw string) answer {
	t.Helper()
	method, _, _ := strings.Cut(raw, " ")
	br := bufio.NewReader(conn)
	resp, err := http.ReadResponse(br, &http.Request{Method: method})
	if err != nil {
		t.Fatalf("no answer to %.300q: %v", raw, err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("cut answer to %.300q: %v", raw, err)
	}
	_ = conn.(*net.TCPConn).CloseWrite()
	rest, _ := io.ReadAll(br) // an error is a connection reset after the answer
	return answer{resp.StatusCode, resp.Header, string(body), string(rest)}
}

// request writes a request, with a Host field and an empty line around what
// is given.
func request(line string, fields ...string) string {
	head := append([]string{line + " HTTP/1.1", "Host: h"}, fields...)
	return strings.Join(head, "\r\n") + "\r\n\r\n"
}

const (
	authorized = "Authorization: Bearer key-1"
	isJSON     = "Content-Type: application/json"
)

// get writes a GET with a credential.
func get(target string, fields ...string) string {
	return request("GET "+target, append(fields, authorized)...)
}

// post writes a POST of JSON with a credential.
func post(target, body string, fields ...string) string {
	return postBare(target, body, append(fields, authorized, isJSON)...)
}

// postBare writes a POST with no other fields than those given and the
// body's length.
func postBare(target, body string, fields ...string) string {
	return request("POST "+target, append(fields, "Content-Length: "+strconv.Itoa(len(body)))...) + body
}

// want is what a case expects of an answer.
type want struct {
	status int
	code   string            // of the Error body; "": a success
	says   string            // part of the Error's message: what is at fault
	body   string            // of a success; "": not compared
	header map[string]string // fields, in canonical form; "": must be absent
}

var want200 = want{status: 200}

func bad(says string) want { return want{status: 400, code: "invalid", says: says} }

// check compares an answer with what was expected, and with what must hold
// for all answers.
func (a answer) check(w want) error {
	if a.status != w.status {
		return fmt.Errorf("status %d, want %d; body %.300q", a.status, w.status, a.body)
	}
	if a.rest != "" {
		return fmt.Errorf("more came after the answer: %.300q", a.rest)
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

// checkError compares an Error body to the letter, and the header fields that
// come with it.
func (a answer) checkError(w want) error {
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

// rawCase is a request and the answer it has to get.
type rawCase struct {
	name string
	send string
	want want
}

// run sends every case and sees to it that a refused request has stored
// nothing.
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

// add stores pets with the names given, sold ones where the name says so.
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

// sendAndClose is send for requests that are cut short: it closes its side
// first, and reports whether there was an answer all the same.
func sendAndClose(t *testing.T, addr, raw string) (a answer, ok bool) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(conn, raw); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(conn)
	if err != nil || len(b) == 0 {
		return a, false
	}
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(b)), nil)
	if err != nil {
		t.Fatalf("answer %q: %v", b, err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("answer %q: %v", b, err)
	}
	return answer{resp.StatusCode, resp.Header, string(body), ""}, true
}
