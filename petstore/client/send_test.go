package client_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
)

// The client repeats some requests, depending on the failure, the operation and RetryWrites.
func TestRetry(t *testing.T) {
	for _, tt := range []struct {
		name  string
		first server
		want  string // of a read, a creation, and one with RetryWrites: it is repeated (r), fails (f) or is of unknown outcome (u)
		code  petstore.Code
	}{
		{"no connection", refused, "rrr", ""},
		{"a lost connection", lost, "rur", "unavailable"},
		{"a lost connection of another transport", untraced, "rur", "unavailable"},
		{"a cut response", cut(200, ""), "rur", "unavailable"},
		{"a response that breaks the contract", respond(202, "{}"), "fuu", "internal"},
		{"101", switching, "fuu", "internal"},
		{"302", respond(302, "", "Location", "/"), "fuu", "internal"},
		{"400 with another code", respond(400, `{"code":"idempotency_mismatch"}`), "fff", "invalid"},
		{"401", respond(401, ""), "fff", "unauthorized"},
		{"403", respond(403, ""), "fff", "unauthorized"},
		{"404 that is cut", cut(404, ""), "fff", "not_found"},
		{"409", respond(409, `{"code":"conflict"}`), "fff", "conflict"},
		{"206", respond(206, `[]`), "fuu", "internal"},
		{"409 for another reason", respond(409, `{"code":"duplicate"}`), "fff", "invalid"},
		{"422 for a mismatch", respond(422, `{"code":"idempotency_mismatch"}`), "fff", "idempotency_mismatch"},
		{"429", respond(429, ""), "rrr", ""},
		{"500 with another code", respond(500, `{"code":"conflict"}`), "rur", "internal"},
		{"503", respond(503, ""), "rur", "unavailable"},
		{"600", respond(600, ""), "fuu", "internal"},
		{"507", respond(507, ""), "fff", "insufficient_storage"},
	} {
		for operation, call := range calls {
			for i, want := range tt.want[1:] {
				if operation == "list" || operation == "get" {
					want = rune(tt.want[0])
				}
				s := &script{steps: []server{tt.first, okay}}
				_, err := call(ctx, newClient(t, client.Options{RetryWrites: i == 1, MinBackoff: 1}, s.RoundTrip))
				e, ok := errors.AsType[*petstore.Error](err)
				if (len(s.times) == 2) != (want == 'r') || ok != (want != 'r') || ok && e.Code != tt.code ||
					errors.Is(err, client.ErrUnknownOutcome) != (want == 'u') || s.keys[0] != s.keys[len(s.keys)-1] {
					t.Errorf("%s, %s, RetryWrites %v: %d requests with the keys %q, error %v", tt.name, operation, i == 1, len(s.times), s.keys, err)
				}
			}
		}
	}
}

// If a reused connection ends after a creation was sent, only the client sends it again, with
// RetryWrites, also after a 409 because the first attempt may be under way. If it then gets no
// connection, the outcome is unknown nevertheless; if it never got one, the creation was not sent.
func TestLostOnReusedConnection(t *testing.T) {
	for _, tt := range []struct {
		retry, ends bool // ends: the server ends with the first creation
		attempts    int
		creations   int64
	}{{false, false, 3, 1}, {true, false, 1, 1}, {true, false, 3, 3}, {true, true, 2, 1}} {
		var creations atomic.Int64
		var srv *httptest.Server
		srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			resp, _ := okay(r)
			switch {
			case r.Method == "GET":
			case creations.Add(1) == 1:
				if tt.ends {
					srv.Listener.Close()
				}
				panic(http.ErrAbortHandler)
			case creations.Load() == 2:
				w.WriteHeader(409)
				resp, _ = respond(409, `{"code":"conflict"}`)(r)
			}
			_, _ = io.Copy(w, resp.Body)
		}))
		defer srv.Close()
		c, _ := client.New(srv.URL, testKey, &client.Options{RetryWrites: tt.retry, MaxAttempts: tt.attempts, MinBackoff: 1})
		_, err := c.ListPets(ctx, petstore.ListQuery{})
		_, err2 := c.CreatePet(ctx, petstore.NewPet{Name: "Rex", CategoryID: 1}, petstore.IdempotencyKey{Key: "a"}) // the server has a default status
		fails := tt.creations == 1
		if err != nil || creations.Load() != tt.creations || (err2 != nil) != fails || errors.Is(err2, client.ErrUnknownOutcome) != fails {
			t.Errorf("%+v: the server received %d creations, and the errors are %v, %v", tt, creations.Load(), err, err2)
		}
		if _, err = c.CreatePet(ctx, rex, none); tt.ends && (petstore.CodeOf(err) != petstore.CodeUnavailable || errors.Is(err, client.ErrUnknownOutcome)) {
			t.Errorf("without a server the error is %v", err)
		}
	}
}

// What a repeat cannot mend is an error at once, and leaves no doubt: a bad certificate, and HTTP
// where HTTPS is expected.
func TestNoTLS(t *testing.T) {
	for name, srv := range map[string]*httptest.Server{
		"certificate": httptest.NewTLSServer(nil),
		"HTTP":        httptest.NewServer(nil),
	} {
		defer srv.Close()
		srv.Config.ErrorLog = log.New(io.Discard, "", 0)
		dials := 0
		transport := &http.Transport{DialContext: func(_ context.Context, network, addr string) (net.Conn, error) {
			dials++
			return net.Dial(network, addr)
		}}
		c, _ := client.New("https://"+srv.Listener.Addr().String(), testKey, &client.Options{HTTPClient: &http.Client{Transport: transport}, RetryWrites: true, MinBackoff: 1})
		if _, err := c.CreatePet(ctx, rex, none); petstore.CodeOf(err) != petstore.CodeUnavailable || errors.Is(err, client.ErrUnknownOutcome) || dials != 1 {
			t.Errorf("%s: %d connections, error %v", name, dials, err)
		}
	}
}

func TestWaits(t *testing.T) {
	after := func(value string) server { return respond(429, "", "Retry-After", value) }
	inAMinute := func(r *http.Request) (*http.Response, error) {
		return after(time.Now().Add(time.Minute).UTC().Format(http.TimeFormat))(r)
	}
	for name, tt := range map[string]struct {
		opts   client.Options
		server server
		want   []time.Duration // the longest waits, in milliseconds
		extra  time.Duration   // of each, for Retry-After
	}{
		"zero":                   {client.Options{}, respond(503, ""), []time.Duration{100, 200, 400, 800, 1600, 1600, 1600}, 0},
		"options":                {client.Options{MaxAttempts: 3, MinBackoff: 3 * time.Second}, refused, []time.Duration{3000, 6000}, 0},
		"Retry-After":            {client.Options{MaxAttempts: 3}, after("3"), []time.Duration{100, 200}, 3 * time.Second},
		"a date":                 {client.Options{MaxAttempts: 2}, inAMinute, []time.Duration{100}, time.Minute},
		"more than an int64":     {client.Options{}, after("9223372036854775808"), nil, 0},
		"more than the deadline": {client.Options{}, after("60"), nil, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := t.Context(), func() {}
			if name == "more than the deadline" {
				ctx, cancel = context.WithTimeout(ctx, time.Minute)
			}
			defer cancel()
			s := &script{steps: []server{tt.server}}
			_, err := newClient(t, tt.opts, s.RoundTrip).GetPet(ctx, 7)
			if len(s.times) != len(tt.want)+1 || err == nil || !time.Now().Equal(s.times[len(tt.want)]) {
				t.Fatalf("%s: %d requests, want %d; error %v", name, len(s.times), len(tt.want)+1, err)
			}
			for i, want := range tt.want {
				want *= time.Millisecond
				if got := s.times[i+1].Sub(s.times[i]) - tt.extra; got < want/2 || got > want {
					t.Errorf("%s: wait %d was %v, want %v to %v", name, i, got, want/2, want)
				}
			}
		})
	}
}

// If the context ends a call, the error wraps the context's error and says why the call
// waited. A request that was not sent leaves no doubt.
func TestContext(t *testing.T) {
	hang := func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, context.Cause(r.Context())
	}
	late := func(r *http.Request) (*http.Response, error) {
		_, _ = hang(r)
		return respond(404, "")(r)
	}
	for _, tt := range []struct {
		name    string
		server  server
		ended   time.Duration // when
		unknown bool
		status  int // of the last response; 0: there is none
	}{
		{"has its response", late, time.Second, false, 404},
		{"waits", respond(429, "", "Retry-After", "10"), time.Second, false, 429},
		{"waits after a loss", lost, time.Second, true, 0},
		{"before its request", untraced, 0, false, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(tt.ended, func() { cancel(errors.New("the caller's reason")) })
			synctest.Wait()
			start := time.Now()
			_, err := newClient(t, client.Options{RetryWrites: true, MinBackoff: time.Second}, tt.server).CreatePet(ctx, rex, none)
			e, ok := errors.AsType[*client.ResponseError](err)
			if (petstore.CodeOf(err) == petstore.CodeUnavailable) != (tt.status != 404) || errors.Is(err, context.Canceled) != (tt.status != 404) || time.Since(start) != tt.ended ||
				errors.Is(err, client.ErrUnknownOutcome) != tt.unknown || ok != (tt.status != 0) || ok && e.Status != tt.status {
				t.Errorf("%s: the error is %v after %v", tt.name, err, time.Since(start))
			}
		})
	}
}
