package httpapi_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// TestRequestID: a request has one ID everywhere: what a middleware has set in the response,
// otherwise the client's if that is safe, otherwise a new one.
func TestRequestID(t *testing.T) {
	long := strings.Repeat("x", 128)
	made := map[string]bool{}
	for _, c := range []struct{ set, sent, want string }{ // want "": a new one
		{"", long, long},
		{"", "8e03978E-40d5.b_c:d/e+f", "8e03978E-40d5.b_c:d/e+f"},
		{"of-a-middleware", "mine", "of-a-middleware"},
		{"", "", ""}, {"", long + "x", ""}, {"", `a"b`, ""}, {"", "%0a", ""}, {"", "a\r\nX-Request-ID: b", ""},
	} {
		s := newServer(t, nil)
		var id string // as the service has it
		h := s.handler(stub(func(ctx context.Context) error { id = httpapi.RequestID(ctx); return errors.New("damaged") }), testKeys, nil)
		s.h = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Request-Id", c.set)
			h.ServeHTTP(w, r)
		})
		got := send(t, s.h, get("/pets", "X-Request-ID: "+c.sent)).Header["X-Request-Id"]
		got = append(got, s.seen[0].RequestID)
		want := cmp.Or(c.want, id)
		if !slices.Equal(got, []string{want, want}) || id != want || len(id) < 8 || made[id] || c.want == "" && id == c.sent {
			t.Errorf("%.200q: RequestID returned %q; response and observation have %q", c, id, got)
		}
		s.wantLog("request_id=" + want + " ")
		made[id] = true
	}

	// Without an Observe, a success has only the client's.
	h := httpapi.New(stub(nil), testKeys, nil)
	for raw, want := range map[string]string{get("/pets"): "", get("/pets", "X-Request-ID: mine"): "mine"} {
		if id := send(t, h, raw).Header.Get("X-Request-Id"); id != want {
			t.Errorf("%q: X-Request-Id %q", raw, id)
		}
	}
	if id := httpapi.RequestID(t.Context()); id != "" {
		t.Errorf("another context has the ID %q", id)
	}
}

// TestFailuresLogged: at most ten failed requests are logged in a second. Requests that are only
// refused for now, or whose client went away, are not.
func TestFailuresLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFaultyServer(t, func(ctx context.Context) error {
			if httpapi.RequestID(ctx) == "full" {
				return petstore.ErrQueueFull
			}
			if ctx.Err() != nil {
				return &petstore.Error{Code: petstore.CodeUnavailable, Message: "abandoned", Err: ctx.Err()}
			}
			return errors.New("damaged")
		})
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		for range 3 {
			for range 100 {
				serveAuthorized(t, s.h, httptest.NewRequestWithContext(gone, "GET", "/pets", nil))
				send(t, s.h, get("/pets", "X-Request-ID: full"))
				send(t, s.h, get("/pets"))
			}
			if got := strings.Join(s.log, ""); strings.Count(got, "\n") != 10 || strings.Count(got, "err=damaged") != 10 {
				t.Errorf("logged in a second: %s", got)
			}
			s.log = nil
			time.Sleep(time.Second)
		}
	})
}

func TestObserve(t *testing.T) {
	s := newServer(t, nil)
	s.want(created, post("/pets", rexBody))
	var pattern string // as middleware finds it in its own request
	h := s.h
	s.h = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		pattern = r.Pattern
	})
	for raw, want := range map[string]string{
		get("/pets?limit=5"):              "listPets, GET /pets, 200, alice",
		request("HEAD /pets", authorized): "listPets, GET /pets, 200, alice",
		get("/pets/%31"):                  "getPet, GET /pets/{petId}, 200, alice",
		post("/messages", "{"):            "submitMessage, POST /messages, 400, alice",
		request("GET /pets"):              "listPets, GET /pets, 401, ",
		request("FOO /pets"):              ", , 405, ",
		get("/cats"):                      ", , 404, ",
		request("GET /openapi.json"):      "openapi, GET /openapi.json, 200, ",
	} {
		s.seen = nil
		r := send(t, s.h, raw)
		if len(s.seen) != 1 {
			t.Fatalf("%q: observed %+v", raw, s.seen)
		}
		o := s.seen[0]
		got := fmt.Sprintf("%s, %s, %d, %s", o.Operation, pattern, o.Status, o.Account)
		if got != want || o.Duration <= 0 || o.Duration > time.Hour || o.RequestID != r.Header.Get("X-Request-Id") || o.Bytes != len(r.Body) {
			t.Errorf("%q: observed %+v, %s, want %s", raw, o, got, want)
		}
	}
}

// TestWriteError: the server around a handler responds in the same form.
func TestWriteError(t *testing.T) {
	for err, want := range map[error]want{
		errors.New("secret"): internal,
		nil:                  internal,
	} {
		s := newServer(t, nil)
		s.h = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Request-Id", "the-id")
			httpapi.WriteError(w, r, err)
		})
		s.want(want.with("X-Request-Id", "the-id"), request("GET /", "X-Request-ID: mine"))
		if r := send(t, s.h, request("HEAD /")); r.Status != want.status || r.Body != "" {
			t.Errorf("HEAD: %+v", r)
		}
	}
}
