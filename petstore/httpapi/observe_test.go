package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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
		if len(got) != 1 || len(got[0]) < 8 || strings.Contains(raw, got[0]) || made[got[0]] {
			t.Errorf("%.200q: X-Request-Id %q", raw, got)
		} else {
			made[got[0]] = true
		}
	}
	for _, id := range []string{"", long + "x", "a b", "a\tb", `a"b`, "a,b", "a;b", "<a>", "%0a", "é", "a\\b", "a\r\n" + field + "b"} {
		wantMade(get("/pets/2", field+id))
	}
	wantMade(get("/cats"))
	wantMade(get("/pets/1")) // the server of the test has an Observe

	// The service has the ID in its context. Without an Observe, a success has only the client's.
	var asked string
	for raw, fails := range map[string]error{get("/pets"): nil, get("/pets", field+"mine"): nil, get("/pets/1"): petstore.ErrNotFound} {
		h := httpapi.New(stub(func(ctx context.Context, _ any) error { asked = httpapi.RequestID(ctx); return fails }), testKeys, nil)
		id := send(t, h, raw).Header.Get("X-Request-Id")
		if want := fails != nil || strings.Contains(raw, "mine"); asked == "" || (id != "") != want || want && id != asked {
			t.Errorf("%q: RequestID returned %q, and the response has %q", raw, asked, id)
		}
	}
	if id := httpapi.RequestID(t.Context()); id != "" {
		t.Errorf("another context has the ID %q", id)
	}
}

// TestLoggedPath: the log gets the path that the client sent, with any prefix that
// was stripped from it, and without the query.
func TestLoggedPath(t *testing.T) {
	s := newServer(t, nil)
	s.h = http.StripPrefix("/api/v1", s.handler(spoiled(), testKeys, nil))
	s.want(internal, get("/api/v1/pets/%31?secret"))
	s.wantLog(" path=/api/v1/pets/%31 ")
}

// TestFailuresLogged: at most ten failed requests are logged in a second. Requests that are only
// refused for now are not.
func TestFailuresLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFaultyServer(t, func(ctx context.Context) error {
			if httpapi.RequestID(ctx) == "full" {
				return petstore.ErrQueueFull
			}
			return errors.New("damaged")
		})
		for range 3 {
			for range 100 {
				send(t, s.h, get("/pets", "X-Request-ID: full"))
				send(t, s.h, get("/pets"))
			}
			if got := strings.Join(s.log.take(), ""); strings.Count(got, "\n") != 10 || strings.Contains(got, "full") {
				t.Errorf("logged in a second: %s", got)
			}
			time.Sleep(time.Second)
		}
	})
}

func TestObserve(t *testing.T) {
	s := newServer(t, nil)
	s.add("rex")
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
		post("/pets", rexBody):            "createPet, POST /pets, 201, alice",
		post("/pets", "{"):                "createPet, POST /pets, 400, alice",
		post("/messages", "{"):            "submitMessage, POST /messages, 400, alice",
		request("GET /pets"):              "listPets, GET /pets, 401, ",
		request("FOO /pets"):              ", , 405, ",
		get("/cats"):                      ", , 404, ",
		request("GET /openapi.json"):      "openapi, GET /openapi.json, 200, ",
	} {
		id := send(t, s.h, raw).Header.Get("X-Request-Id")
		all := s.seen.take()
		if len(all) != 1 {
			t.Fatalf("%q: observed %+v", raw, all)
		}
		o := all[0]
		got := fmt.Sprintf("%s, %s, %d, %s", o.Operation, pattern, o.Status, o.Account)
		if got != want || o.Duration <= 0 || o.Duration > time.Hour || o.RequestID != id || id == "" {
			t.Errorf("%q: observed %+v, %s, want %s", raw, o, got, want)
		}
	}
}

// TestCanceled: a client that goes away during its request causes no log line, and
// a deadline that the server has set does.
func TestCanceled(t *testing.T) {
	for _, gone := range []bool{true, false} {
		ctx, cancel := context.WithTimeout(t.Context(), map[bool]time.Duration{true: time.Hour, false: 1}[gone])
		defer cancel()
		s := newFaultyServer(t, func(ctx context.Context) error {
			if gone {
				cancel()
			}
			<-ctx.Done()
			return &petstore.Error{Code: petstore.CodeUnavailable, Message: "abandoned", Err: ctx.Err()}
		})
		r := serveAuthorized(t, s.h, httptest.NewRequestWithContext(ctx, "GET", "/pets", nil))
		if r.Status != 503 {
			t.Errorf("status %d", r.Status)
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
		{errors.New("secret"), internal},
		{nil, internal},
	} {
		s := newServer(t, nil)
		s.h = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { httpapi.WriteError(w, r, c.err) })
		s.want(c.want.with("X-Request-Id", "the-id"), request("GET /", "X-Request-ID: the-id"))
		if a := send(t, s.h, request("HEAD /")); a.Status != c.want.status || a.Body != "" {
			t.Errorf("HEAD: %+v", a)
		}
	}
}
