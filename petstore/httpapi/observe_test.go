package httpapi_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

func TestRequestID(t *testing.T) {
	s := newServer(t, nil)
	s.add("rex")
	long := strings.Repeat("x", 128)
	for _, id := range []string{
		"1", long, "8e03978e-40d5-43dd-bc93-6894a57f9324", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
		"a.b_c:d/e+f==",
	} {
		a := send(t, s.addr, get("/pets/2", "X-Request-ID: "+id))
		if err := a.check(want{status: 404, code: "not_found", header: map[string]string{"X-Request-Id": id}}); err != nil {
			t.Error(err)
		}
	}
	ids := map[string]bool{}
	for _, id := range []string{"", long + "x", "a b", "a\tb", `a"b`, "a,b", "a;b", "<a>", "%0a", "é", "a\\b", "a=b\x7f"} {
		fields := []string{"X-Request-ID: " + id}
		if strings.HasSuffix(id, "\x7f") { // net/http refuses this one; two fields instead
			fields = []string{"X-Request-ID: a", "X-Request-ID: b"}
		}
		a := send(t, s.addr, get("/pets/2", fields...))
		if err := a.check(want{status: 404, code: "not_found"}); err != nil {
			t.Error(err)
		}
		got := a.header.Get("X-Request-Id")
		if len(got) < 16 || got == id || ids[got] {
			t.Errorf("%q: the response has the ID %q", id, got)
		}
		ids[got] = true
	}
	for status, raw := range map[int]string{
		200: get("/pets/1"), 201: post("/pets", rexBody), 202: post("/messages", `{"message":"hi"}`),
		304: get("/openapi.json", "If-None-Match: *"), 404: get("/cats"),
	} {
		sent := send(t, s.addr, strings.Replace(raw, "\r\n", "\r\nX-Request-ID: the-id\r\n", 1))
		if got := sent.header["X-Request-Id"]; sent.status != status || !cmp.Equal(got, []string{"the-id"}) {
			t.Errorf("%.40q: status %d, X-Request-Id %q", raw, sent.status, got)
		}
		made := send(t, s.addr, raw).header["X-Request-Id"]
		if len(made) != 1 || len(made[0]) < 16 || ids[made[0]] {
			t.Errorf("%.40q: X-Request-Id %q", raw, made)
		}
	}
}

// TestLoggedPath: the log and the observer get the path that the client sent,
// with any prefix that was stripped from it, and without the query.
func TestLoggedPath(t *testing.T) {
	var seen recorder[httpapi.Observation]
	log := new(logBuffer)
	h := newHandler(faulty{memory.New(nil), func(context.Context) error { return errors.New("boom") }}, testKeys,
		&httpapi.Options{Logger: newLogger(log), Observe: func(_ context.Context, o httpapi.Observation) { seen.add(o) }})
	srv := httptest.NewServer(http.StripPrefix("/api/v1", h))
	t.Cleanup(srv.Close)
	for target, want := range map[string]string{
		"/api/v1/pets?limit=1":             "/api/v1/pets",
		"/api/v1/pets/%31":                 "/api/v1/pets/1",
		"http://user:secret@h/api/v1/pets": "/api/v1/pets",
	} {
		send(t, srv.Listener.Addr().String(), get(target))
		if got := seen.take(); len(got) != 1 || got[0].Path != want {
			t.Errorf("%s: observed %+v", target, got)
		}
		if got := log.take(); !strings.Contains(got, " path="+want+" ") {
			t.Errorf("%s: logged %s", target, got)
		}
	}
}

// TestRequestIDOfMiddleware: an ID that middleware has set stays.
func TestRequestIDOfMiddleware(t *testing.T) {
	var seen recorder[httpapi.Observation]
	h := httpapi.New(memory.New(nil), testKeys, &httpapi.Options{Observe: func(_ context.Context, o httpapi.Observation) { seen.add(o) }})
	addr := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-ID", "from middleware")
		h.ServeHTTP(w, r)
	}))
	for raw, status := range map[string]int{get("/pets", "X-Request-ID: client"): 200, get("/pets/1", "X-Request-ID: client"): 404} {
		a := send(t, addr, raw)
		if got := a.header["X-Request-Id"]; a.status != status || !cmp.Equal(got, []string{"from middleware"}) {
			t.Errorf("status %d, X-Request-Id: %q", a.status, got)
		}
	}
	for _, o := range seen.take() {
		if o.RequestID != "from middleware" {
			t.Errorf("observed: %+v", o)
		}
	}
}

func TestObserve(t *testing.T) {
	var seen recorder[httpapi.Observation]
	s := newServer(t, &httpapi.Options{Observe: func(_ context.Context, o httpapi.Observation) { seen.add(o) }})
	s.add("rex")
	list := httpapi.Observation{Operation: "listPets", Pattern: "GET /pets"}
	create := httpapi.Observation{Operation: "createPet", Pattern: "POST /pets"}
	pet := httpapi.Observation{Operation: "getPet", Pattern: "GET /pets/{petId}"}
	submit := httpapi.Observation{Operation: "submitMessage", Pattern: "POST /messages"}
	openapi := httpapi.Observation{Operation: "openapi", Pattern: "GET /openapi.json"}
	const id, agent = "X-Request-ID: the-id", "User-Agent: test/1.0"
	for _, c := range []struct {
		send      string
		path      string
		status    int
		code      petstore.Code
		principal string
		want      httpapi.Observation
	}{
		{get("/pets?limit=5", id, agent), "/pets", 200, "", "alice", list},
		{request("HEAD /pets", authorized, id, agent), "/pets", 200, "", "alice", list},
		{get("/pets/%31", id, agent), "/pets/1", 200, "", "alice", pet},
		{get("/pets/2", id, agent), "/pets/2", 404, "not_found", "alice", pet},
		{post("/pets", rexBody, id, agent), "/pets", 201, "", "alice", create},
		{post("/pets", "{", id, agent), "/pets", 400, "invalid", "alice", create},
		{post("/messages", "{", id, agent), "/messages", 400, "invalid", "alice", submit},
		{request("GET /pets", id, agent), "/pets", 401, "unauthorized", "", list},
		{request("FOO /pets", id, agent), "/pets", 405, "method_not_allowed", "", httpapi.Observation{}},
		{get("/cats", id, agent), "/cats", 404, "not_found", "", httpapi.Observation{}},
		{request("GET /openapi.json", id, agent), "/openapi.json", 200, "", "", openapi},
		{request("GET /openapi.json", id, agent, "If-None-Match: *"), "/openapi.json", 304, "", "", openapi},
	} {
		conn, br := dial(t, s.addr)
		a := exchange(t, conn, br, c.send)
		got := seen.take()
		if len(got) != 1 {
			t.Fatalf("%q: %d observations", c.send, len(got))
		}
		if got[0].Duration <= 0 {
			t.Errorf("%q: took %v", c.send, got[0].Duration)
		}
		c.want.Method, _, _ = strings.Cut(c.send, " ")
		c.want.Path, c.want.Status, c.want.Code, c.want.Principal = c.path, c.status, c.code, c.principal
		c.want.RemoteAddr, c.want.UserAgent, c.want.RequestID = conn.LocalAddr().String(), "test/1.0", "the-id"
		c.want.Bytes, c.want.Duration = len(a.body), got[0].Duration
		if diff := cmp.Diff(c.want, got[0]); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.send, diff)
		}
	}
}

// TestObserverPanics: a broken observer does not spoil the response.
func TestObserverPanics(t *testing.T) {
	s, log := newFaultyServer(t, func(context.Context) error { return nil },
		httpapi.Options{Observe: func(context.Context, httpapi.Observation) { panic("boom") }})
	s.run([]rawCase{{"create", post("/pets", rexBody), want{status: 201}}})
	if got := log.take(); !strings.Contains(got, "boom") {
		t.Errorf("log: %s", got)
	}
}

// TestClientGone: a client that goes away during its request causes no log line.
func TestClientGone(t *testing.T) {
	started := make(chan struct{})
	observed := make(chan httpapi.Observation, 1)
	s, log := newFaultyServer(t, func(ctx context.Context) error {
		close(started)
		<-ctx.Done()
		return &petstore.Error{Code: petstore.CodeUnavailable, Message: "abandoned", Err: ctx.Err()}
	}, httpapi.Options{Observe: func(_ context.Context, o httpapi.Observation) { observed <- o }})
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, get("/pets")); err != nil {
		t.Fatal(err)
	}
	<-started
	_ = conn.Close()
	if o := <-observed; !o.Canceled || o.Status != 503 {
		t.Errorf("observed: %+v", o)
	}
	if got := log.take(); got != "" {
		t.Errorf("logged: %s", got)
	}
}

// TestTimedOut: a deadline that the server has set is logged.
func TestTimedOut(t *testing.T) {
	var seen recorder[httpapi.Observation]
	log := new(logBuffer)
	h := newHandler(faulty{memory.New(nil), func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}, testKeys,
		&httpapi.Options{Logger: newLogger(log), Observe: func(_ context.Context, o httpapi.Observation) { seen.add(o) }})
	ctx, cancel := context.WithTimeout(context.Background(), 1)
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, "GET", "/pets", nil)
	r.Header.Set("Authorization", "Bearer key-1")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if got := seen.take(); w.Code != 503 || len(got) != 1 || got[0].Canceled {
		t.Errorf("status %d, observed %+v", w.Code, got)
	}
	if got := log.take(); !strings.Contains(got, "deadline exceeded") {
		t.Errorf("log: %s", got)
	}
}

// TestPattern: middleware finds the pattern in its own request, as with an
// http.ServeMux.
func TestPattern(t *testing.T) {
	h := newHandler(memory.New(nil), testKeys, nil)
	for _, c := range []struct{ method, target, want string }{
		{"GET", "/pets", "GET /pets"},
		{"HEAD", "/pets?limit=0", "GET /pets"},
		{"POST", "/pets", "POST /pets"},
		{"GET", "/pets/7", "GET /pets/{petId}"},
		{"POST", "/messages", "POST /messages"},
		{"PUT", "/pets", ""},
		{"GET", "/cats", ""},
	} {
		r := httptest.NewRequest(c.method, c.target, nil)
		h.ServeHTTP(httptest.NewRecorder(), r)
		if r.Pattern != c.want {
			t.Errorf("%s %s: pattern %q, want %q", c.method, c.target, r.Pattern, c.want)
		}
	}
}

// TestWriteError: the server around a handler responds in the same form.
func TestWriteError(t *testing.T) {
	for _, c := range []struct {
		err  error
		want want
	}{
		{petstore.Errorf(petstore.CodeNotFound, "path: not here"), want{status: 404, code: "not_found", says: "path: not here"}},
		{petstore.Errorf(petstore.CodeUnavailable, ""), want{status: 503, code: "unavailable"}},
		{petstore.Errorf(petstore.CodeUnauthorized, ""), want{status: 401, code: "unauthorized", header: map[string]string{"Www-Authenticate": `Bearer realm="petstore"`}}},
		{petstore.Errorf(httpapi.CodeBodyTooLarge, ""), want{status: 413, code: "body_too_large"}},
		{petstore.Errorf(httpapi.CodeUnsupportedMediaType, ""), want{status: 415, code: "unsupported_media_type"}},
		{petstore.Errorf(httpapi.CodeRequestTimeout, ""), want{status: 408, code: "request_timeout"}},
		{petstore.Errorf(httpapi.CodeGone, ""), want{status: 410, code: "gone"}},
		{errors.New("secret"), want{status: 500, code: "internal", says: "internal error"}},
		{nil, want{status: 500, code: "internal", says: "internal error"}},
	} {
		addr := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { httpapi.WriteError(w, r, c.err) }))
		a := send(t, addr, request("GET /", "X-Request-ID: the-id"))
		if err := a.check(c.want); err != nil || a.header.Get("X-Request-Id") != "the-id" {
			t.Errorf("%v: %v %v", c.err, err, a.header)
		}
		if a := send(t, addr, request("HEAD /")); a.status != c.want.status || a.body+a.rest != "" {
			t.Errorf("HEAD: %+v", a)
		}
	}
}
