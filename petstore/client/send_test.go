package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
)

// The client repeats some requests, depending on the failure, the operation and RetryWrites. What
// a repeat cannot mend is an error at once: a bad certificate, or HTTP where HTTPS is expected.
// With RetryWrites a 409 may be of an attempt under way, whose outcome stays unknown.
func TestRetry(t *testing.T) {
	type s = []server
	noTLS, conflict := refuse(&tls.CertificateVerificationError{Err: io.EOF}), respond(409, `{"code":"conflict"}`)
	for _, tt := range []struct {
		name   string
		server s      // its responses, before success
		want   string // of a read, a creation, and one with RetryWrites: it is repeated (r), fails (f) or may have been carried out (u)
		code   petstore.Code
	}{
		{"no connection", s{refused}, "rrr", ""},
		{"a bad certificate", s{noTLS}, "fff", "unavailable"},
		{"HTTP for HTTPS", s{refuse(http.ErrSchemeMismatch)}, "fff", "unavailable"},
		{"a lost connection", s{lost}, "rur", "unavailable"},
		{"a lost connection, then none", s{lost, noTLS}, "fuu", "unavailable"},
		{"a lost connection, then 409", s{lost, conflict}, "fur", ""},
		{"a lost connection of another transport", s{untraced}, "rur", "unavailable"},
		{"a cut response", s{cut(200, "")}, "rur", "unavailable"},
		{"a response that breaks the contract", s{respond(202, "{}")}, "fuu", "internal"},
		{"101", s{switching}, "fuu", "internal"},
		{"302", s{respond(302, "", "Location", "/")}, "fuu", "internal"},
		{"400 with another code", s{respond(400, `{"code":"idempotency_mismatch"}`)}, "fff", "invalid"},
		{"401", s{respond(401, "")}, "fff", "unauthorized"},
		{"403", s{respond(403, "")}, "fff", "unauthorized"},
		{"404 that is cut", s{cut(404, "")}, "fff", "not_found"},
		{"409", s{conflict}, "fff", "conflict"},
		{"206", s{respond(206, `[]`)}, "fuu", "internal"},
		{"409 for another reason", s{respond(409, `{"code":"duplicate"}`)}, "fff", "invalid"},
		{"422 for a mismatch", s{respond(422, `{"code":"idempotency_mismatch"}`)}, "fff", "idempotency_mismatch"},
		{"429", s{respond(429, "")}, "rrr", ""},
		{"500 with another code", s{respond(500, `{"code":"conflict"}`)}, "rur", "internal"},
		{"503", s{respond(503, "")}, "rur", "unavailable"},
		{"507", s{respond(507, "")}, "fff", "insufficient_storage"},
	} {
		for operation, call := range calls {
			for i, want := range tt.want[1:] {
				if operation == "list" || operation == "get" {
					want = rune(tt.want[0])
				}
				var keys []string
				_, err := call(ctx, newClient(t, client.Options{RetryWrites: i == 1, MinBackoff: 1}, func(r *http.Request) (*http.Response, error) {
					keys = append(keys, r.Header.Get("Idempotency-Key"))
					return append(tt.server, okay)[len(keys)-1](r)
				}))
				if (err == nil) != (want == 'r') || err != nil && tt.code != "" && petstore.CodeOf(err) != tt.code ||
					errors.Is(err, client.ErrMaybeDone) != (want == 'u') || keys[0] != keys[len(keys)-1] {
					t.Errorf("%s, %s, RetryWrites %v: requests with the keys %q, error %v", tt.name, operation, i == 1, keys, err)
				}
			}
		}
	}
}

// If a reused connection ends after a creation was sent, only the client sends it again, with
// RetryWrites.
func TestLostOnReusedConnection(t *testing.T) {
	for retry, want := range map[bool]int64{false: 1, true: 2} {
		var creations atomic.Int64
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == "POST" && creations.Add(1) == 1 {
				panic(http.ErrAbortHandler)
			}
			resp, _ := okay(r)
			_, _ = io.Copy(w, resp.Body)
		}))
		defer srv.Close()
		c, _ := client.New(srv.URL, testKey, &client.Options{RetryWrites: retry, MinBackoff: 1})
		_, err := c.ListPets(ctx, petstore.ListQuery{})
		_, err2 := c.CreatePet(ctx, petstore.NewPet{Name: "Rex", CategoryID: 1}, petstore.IdempotencyKey{Key: "a"}) // the server has a default status
		if err != nil || (err2 == nil) != retry || errors.Is(err2, client.ErrMaybeDone) == retry || creations.Load() != want {
			t.Errorf("RetryWrites %v: the server received %d creations, and the errors are %v, %v", retry, creations.Load(), err, err2)
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
			var times []time.Time
			_, err := newClient(t, tt.opts, func(r *http.Request) (*http.Response, error) {
				times = append(times, time.Now())
				return tt.server(r)
			}).GetPet(ctx, 7)
			if len(times) != len(tt.want)+1 || err == nil || !time.Now().Equal(times[len(tt.want)]) {
				t.Fatalf("%s: %d requests, want %d; error %v", name, len(times), len(tt.want)+1, err)
			}
			for i, want := range tt.want {
				want *= time.Millisecond
				if got := times[i+1].Sub(times[i]) - tt.extra; got < want/2 || got > want {
					t.Errorf("%s: wait %d was %v, want %v to %v", name, i, got, want/2, want)
				}
			}
		})
	}
}

// If the context ends a call, the error wraps the context's error and says why the call
// waited. A request that was not sent leaves no doubt.
func TestContext(t *testing.T) {
	for _, tt := range []struct {
		name    string
		server  server
		ended   time.Duration // when
		unknown bool
		cause   string
	}{
		{"waits", respond(429, "", "Retry-After", "10"), time.Second, false, "status 429"},
		{"waits after a loss", lost, time.Second, true, "EOF"},
		{"before its request", untraced, 0, false, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(tt.ended, func() { cancel(errors.New("the caller's reason")) })
			synctest.Wait()
			start := time.Now()
			_, err := newClient(t, client.Options{RetryWrites: true, MinBackoff: time.Second}, tt.server).CreatePet(ctx, rex, none)
			if petstore.CodeOf(err) != petstore.CodeUnavailable || !errors.Is(err, context.Canceled) || time.Since(start) != tt.ended ||
				errors.Is(err, client.ErrMaybeDone) != tt.unknown || !strings.Contains(err.Error(), tt.cause) {
				t.Errorf("%s: the error is %v after %v", tt.name, err, time.Since(start))
			}
		})
	}
}
