package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

func TestRequestID(t *testing.T) {
	s := newServer(t, nil)
	s.add("rex")
	const field = "X-Request-ID: "
	long := strings.Repeat("x", 128)
	for _, id := range []string{
		"1", long, "8e03978e-40d5-43dd-bc93-6894a57f9324", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "a.b_c:d/e+f==",
	} {
		s.want(refused(404, "").with("X-Request-Id", id), get("/pets/2", field+id))
	}
	made := map[string]bool{}
	wantMade := func(raw string) {
		t.Helper()
		got := send(t, s.h, raw).Header["X-Request-Id"]
		if len(got) != 1 || len(got[0]) < 16 || strings.Contains(raw, got[0]) || made[got[0]] {
			t.Errorf("%.200q: X-Request-Id %q", raw, got)
		} else {
			made[got[0]] = true
		}
	}
	for _, id := range []string{"", long + "x", "a b", "a\tb", `a"b`, "a,b", "a;b", "<a>", "%0a", "é", "a\\b", "a\r\n" + field + "b"} {
		wantMade(get("/pets/2", field+id))
	}
	wantMade(get("/cats"))
	wantMade(get("/pets/1"))
}

// TestLoggedPath: the log gets the path that the client sent, with any prefix that
// was stripped from it, and without the query.
func TestLoggedPath(t *testing.T) {
	s := newServer(t, nil)
	s.h = http.StripPrefix("/api/v1", httpapi.New(spoiled, testKeys, s.options(nil)))
	s.want(internal, get("/api/v1/pets/%31?secret"))
	s.wantLog(" path=/api/v1/pets/%31 ")
}

// TestFailuresLogged: at most ten failed requests are logged in a second.
func TestFailuresLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{T: t}
		h := httpapi.New(spoiled, testKeys, s.options(nil))
		for range 3 {
			for range 100 {
				record(t, h, httptest.NewRequest("GET", "/pets", nil))
			}
			if got := s.log.take(); len(got) != 10 {
				t.Errorf("%d lines in a second, want 10", len(got))
			}
			time.Sleep(time.Second)
		}
	})
}

// TestHeaderOfMiddleware: a request ID and a Link that middleware has set stay,
// and do not get into another response.
func TestHeaderOfMiddleware(t *testing.T) {
	s := newServer(t, nil)
	h := newHandler(s.store, testKeys, s.options(nil))
	s.h = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" {
			w.Header().Set("X-Request-ID", "from middleware")
			w.Header().Add("Link", `<?>; rel="`+r.URL.RawQuery+`"`)
		}
		h.ServeHTTP(w, r)
		w.Header().Add("Link", "too late")
	})
	const successor = `<../pets>; rel="successor-version"`
	for query, link := range map[string]string{"": successor, "a": `<?>; rel="a" | ` + successor, "b": `<?>; rel="b" | ` + successor} {
		id := "client"
		if query != "" {
			id = "from middleware"
		}
		s.want(refused(404, "").with("X-Request-Id", id).with("Link", link), get("/pets/1?"+query, "X-Request-ID: client"))
		if got := s.seen.take(); len(got) != 1 || got[0].RequestID != id {
			t.Errorf("observed: %+v", got)
		}
	}
}

func TestObserve(t *testing.T) {
	s := newServer(t, nil)
	s.add("rex")
	const (
		list, create, pet = "listPets: GET /pets", "createPet: POST /pets", "getPet: GET /pets/{petId}"
		submit, openapi   = "submitMessage: POST /messages", "openapi: GET /openapi.json"
	)
	var patterns recorder[string] // as middleware finds them in its own requests
	h := newHandler(s.store, testKeys, s.options(nil))
	s.h = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		patterns.add(r.Pattern)
	})
	for _, c := range []struct {
		send      string
		status    int
		code      petstore.Code
		principal string
		operation string // and the pattern
	}{
		{get("/pets?limit=5"), 200, "", "alice", list},
		{request("HEAD /pets", authorized), 200, "", "alice", list},
		{get("/pets/%31"), 200, "", "alice", pet},
		{get("/pets/2"), 404, "not_found", "alice", pet},
		{post("/pets", rexBody), 201, "", "alice", create},
		{post("/pets", "{"), 400, "invalid", "alice", create},
		{post("/messages", "{"), 400, "invalid", "alice", submit},
		{request("GET /pets"), 401, "unauthorized", "", list},
		{request("FOO /pets"), 405, "method_not_allowed", "", ""},
		{get("/cats"), 404, "not_found", "", ""},
		{request("GET /openapi.json"), 200, "", "", openapi},
	} {
		c.send = strings.Replace(c.send, "\r\n", "\r\nX-Request-ID: the-id\r\n", 1)
		a := send(t, s.h, c.send)
		got, pattern := s.seen.take(), patterns.take()
		if len(got) != 1 || len(pattern) != 1 || got[0].Duration <= 0 || got[0].Duration > time.Hour {
			t.Fatalf("%q: observed %+v, patterns %q", c.send, got, pattern)
		}
		want := httpapi.Observation{
			Status: c.status, Code: c.code, Principal: c.principal, Bytes: len(a.Body), Duration: got[0].Duration, RequestID: "the-id",
		}
		var wantPattern string
		want.Operation, wantPattern, _ = strings.Cut(c.operation, ": ")
		if c.code != "" {
			_, message, _ := strings.Cut(a.Body, `"message":"`)
			want.Message, _, _ = strings.Cut(message, `"`)
		}
		if diff := cmp.Diff(want, got[0]); diff != "" || pattern[0] != wantPattern {
			t.Errorf("%q: middleware finds the pattern %q (-want +got):\n%s", c.send, pattern, diff)
		}
	}
}

// TestCanceled: a client that goes away during its request causes no log line, and
// a deadline that the server has set does.
func TestCanceled(t *testing.T) {
	for _, gone := range []bool{true, false} {
		ctx, cancel := context.WithTimeout(t.Context(), map[bool]time.Duration{true: time.Hour, false: 1}[gone])
		defer cancel()
		s := newFaultyServer(t, nil, func(ctx context.Context) error {
			if gone {
				cancel()
			}
			<-ctx.Done()
			return &petstore.Error{Code: petstore.CodeUnavailable, Message: "abandoned", Err: ctx.Err()}
		})
		r := record(t, s.h, httptest.NewRequestWithContext(ctx, "GET", "/pets", nil))
		if got := s.seen.take(); r.Status != 503 || len(got) != 1 || got[0].Canceled != gone {
			t.Errorf("status %d, observed %+v", r.Status, got)
		}
		if gone {
			s.wantLog()
		} else {
			s.wantLog("deadline exceeded")
		}
	}
}

// TestWriteError: the server around a handler responds in the same form.
func TestWriteError(t *testing.T) {
	for _, c := range []struct {
		err  error
		want want
	}{
		{petstore.Errorf(petstore.CodeNotFound, "path: not here"), refused(404, "path: not here")},
		{petstore.Errorf(petstore.CodeUnavailable, ""), refused(503, "")},
		{petstore.Errorf(petstore.CodeUnauthorized, ""), refused(401, "").with("Www-Authenticate", challenge)},
		{petstore.Errorf(petstore.CodeBodyTooLarge, ""), refused(413, "")},
		{petstore.Errorf(petstore.CodeUnsupportedMediaType, ""), refused(415, "")},
		{petstore.Errorf(petstore.CodeRequestTimeout, ""), refused(408, "")},
		{errors.New("secret"), internal},
		{nil, internal},
	} {
		s := newServer(t, nil)
		s.h = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { httpapi.WriteError(w, r, c.err) })
		s.want(c.want.with("X-Request-Id", "the-id").with("Accept-Idempotency-Key", ""), request("GET /", "X-Request-ID: the-id"))
		if a := send(t, s.h, request("HEAD /")); a.Status != c.want.status || a.Body != "" {
			t.Errorf("HEAD: %+v", a)
		}
	}
}
