package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
)

// A request has what the contract asks for, at every base URL.
func TestRequest(t *testing.T) {
	var got []string
	c := newClient(t, &client.Options{MessagesURL: "https://messages.test/m/v1/"}, func(r *http.Request) (*http.Response, error) {
		body := []byte{}
		if r.Body != nil {
			body, _ = io.ReadAll(r.Body)
		}
		got = append(got, fmt.Sprintf("%s %s %s %s", r.Method, r.URL, r.Header.Get("Content-Type"), body))
		if r.Header.Get("Authorization") != "Bearer "+testKey || r.UserAgent() != "animalstore-client" {
			t.Errorf("the header is %v", r.Header)
		}
		return respond(404, "")(r)
	})
	c.ListPets(ctx, petstore.ListQuery{})
	c.ListPets(ctx, petstore.ListQuery{Limit: 7, Status: petstore.StatusSold})
	c.GetPet(ctx, -1<<63)
	c.CreatePet(ctx, petstore.NewPet{Name: "\"ä\x00", CategoryID: 1<<63 - 1}, none)
	c.CreatePet(ctx, rex, none)
	c.SubmitMessage(ctx, "hi", none)
	want := []string{
		"GET http://pets.test/v1/pets?limit=20  ",
		"GET http://pets.test/v1/pets?limit=7&status=sold  ",
		"GET http://pets.test/v1/pets/-9223372036854775808  ",
		`POST http://pets.test/v1/pets application/json {"name":"\"ä\u0000","categoryId":9223372036854775807}`,
		`POST http://pets.test/v1/pets application/json {"name":"Rex","categoryId":1,"status":"sold"}`,
		`POST https://messages.test/m/v1/messages application/json {"message":"hi"}`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("sent\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Every creation has an Idempotency-Key, and different creations have different keys.
func TestIdempotencyKey(t *testing.T) {
	var field string
	c := newClient(t, nil, func(r *http.Request) (*http.Response, error) {
		field = sentKey(r)
		return respond(400, "")(r)
	})
	seen := map[string]bool{}
	long := strings.Repeat("x", 255)
	for _, tt := range []struct {
		key  petstore.IdempotencyKey
		want string // "": another one for each of them, and for each operation
	}{
		{petstore.IdempotencyKey{Key: `a"b\c`}, `"a\"b\\c"`},
		{petstore.IdempotencyKey{Key: long}, `"` + long + `"`},
		{petstore.IdempotencyKey{}, ""},
		{petstore.IdempotencyKey{}, ""},
		{petstore.IdempotencyKey{Scope: "a", Key: "k"}, ""},
		{petstore.IdempotencyKey{Scope: "ak"}, ""},
		{petstore.IdempotencyKey{Key: "two words"}, ""},
		{petstore.IdempotencyKey{Key: long + "x"}, ""},
	} {
		for _, send := range []func(){func() { c.CreatePet(ctx, rex, tt.key) }, func() { c.SubmitMessage(ctx, "hi", tt.key) }} {
			send()
			if tt.want != "" && field != tt.want || tt.want == "" && (seen[field] || len(field) < 20 || len(field) > 257) {
				t.Errorf("with %+v the key is %s, want %s", tt.key, field, tt.want)
			}
			seen[field] = true
		}
	}
}

// The client repeats some requests, depending on the failure, on the operation and on
// RetryWrites.
func TestRetry(t *testing.T) {
	type reaction int
	const (
		fails   reaction = iota // the call returns the error
		unknown                 // likewise, as one of unknown outcome
		again                   // the call succeeds with a second request
	)
	for _, tt := range []struct {
		name                string
		first               roundTripper
		read, create, retry reaction // retry: of a create, with RetryWrites
		code                petstore.Code
	}{
		{"no connection", refused, again, again, again, petstore.CodeUnavailable},
		{"an untrusted certificate", func(*http.Request) (*http.Response, error) {
			return nil, &tls.CertificateVerificationError{Err: io.EOF}
		}, fails, fails, fails, petstore.CodeUnavailable},
		{"a cut connection", cut, again, unknown, again, petstore.CodeUnavailable},
		{"a cut response", cutOff(okay), again, unknown, again, petstore.CodeUnavailable},
		{"a response that breaks the contract", respond(202, "{}"), fails, unknown, unknown, petstore.CodeInternal},
		{"101", switched, fails, unknown, unknown, petstore.CodeInternal},
		{"302", respond(302, "", "Location", "/"), fails, unknown, unknown, petstore.CodeInternal},
		{"308", respond(308, "", "Location", "/"), fails, unknown, unknown, petstore.CodeInternal},
		{"400 with another code", respond(400, `{"code":"internal"}`), fails, fails, fails, petstore.CodeInvalid},
		{"401", respond(401, ""), fails, fails, fails, petstore.CodeUnauthorized},
		{"403", respond(403, ""), fails, fails, fails, petstore.CodeUnauthorized},
		{"404", respond(404, ""), fails, fails, fails, petstore.CodeNotFound},
		{"408", respond(408, ""), again, again, again, petstore.CodeUnavailable},
		{"409", respond(409, `{"code":"conflict"}`), again, unknown, again, petstore.CodeConflict},
		{"409 that is cut", cutOff(respond(409, `{"code":"conflict"}`)), again, unknown, again, petstore.CodeUnavailable},
		{"409 for a mismatch", respond(409, `{"code":"idempotency_mismatch"}`), fails, fails, fails, petstore.CodeIdempotencyMismatch},
		{"409 for another reason", respond(409, `{"code":"duplicate"}`), fails, fails, fails, petstore.CodeInvalid},
		{"410", respond(410, ""), fails, fails, fails, petstore.CodeNotFound},
		{"422", respond(422, `{"code":"unprocessable"}`), fails, fails, fails, petstore.CodeInvalid},
		{"429", respond(429, ""), again, again, again, petstore.CodeUnavailable},
		{"500 with another code", respond(500, `{"code":"invalid"}`), again, unknown, again, petstore.CodeInternal},
		{"502", respond(502, ""), again, unknown, again, petstore.CodeUnavailable},
		{"503", respond(503, ""), again, unknown, again, petstore.CodeUnavailable},
		{"504", respond(504, ""), again, unknown, again, petstore.CodeUnavailable},
		{"505", respond(505, ""), fails, unknown, unknown, petstore.CodeInternal},
		{"507", respond(507, ""), fails, fails, fails, petstore.CodeInsufficientStorage},
	} {
		for operation, wants := range map[string][2]reaction{
			"list":   {tt.read, tt.read},
			"get":    {tt.read, tt.read},
			"create": {tt.create, tt.retry},
			"submit": {tt.create, tt.retry},
		} {
			for i, want := range wants {
				synctest.Test(t, func(t *testing.T) {
					s := &script{steps: []roundTripper{tt.first, okay}}
					_, err := calls[operation](ctx, newClient(t, &client.Options{RetryWrites: i == 1}, s.RoundTrip))
					requests := 1
					if want == again {
						requests = 2
					}
					if len(s.times) != requests || (err == nil) != (want == again) || errors.Is(err, client.ErrUnknownOutcome) != (want == unknown) {
						t.Errorf("%s, %s, RetryWrites %v: %d requests, error %v", tt.name, operation, i == 1, len(s.times), err)
					}
					if (s.keys[0] != "") != (operation == "create" || operation == "submit") || s.keys[0] != s.keys[len(s.keys)-1] {
						t.Errorf("%s, %s: the keys were %q", tt.name, operation, s.keys)
					}
					if named := err != nil && strings.Contains(err.Error(), "set Options.RetryWrites"); named && i == 1 || !named && want == unknown && tt.retry == again {
						t.Errorf("%s, %s, RetryWrites %v: the error is %v", tt.name, operation, i == 1, err)
					}
					if e, ok := errors.AsType[*petstore.Error](err); err != nil && (!ok || e.Code != tt.code) {
						t.Errorf("%s, %s: the error is %v, want the code %s", tt.name, operation, err, tt.code)
					}
				})
			}
		}
	}
}

// After a lost creation the outcome stays unknown: the refusal of the next request says
// nothing about the first.
func TestUnknownOutcomeStays(t *testing.T) {
	for name, last := range map[string]roundTripper{"401": respond(401, ""), "no connection": refused, "409": respond(409, "")} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{steps: []roundTripper{cut, last}}
			_, err := newClient(t, &client.Options{RetryWrites: true}, s.RoundTrip).CreatePet(ctx, rex, none)
			if !errors.Is(err, client.ErrUnknownOutcome) || !strings.Contains(err.Error(), ": the server may have carried out the request: ") {
				t.Errorf("%s: the error is %v", name, err)
			}
		})
	}
}

// The waits double up to 20 times MinBackoff, and each is shortened by at most one half. The
// client does not wait for longer than the context allows, or than a minute.
func TestWaits(t *testing.T) {
	seconds := func(n ...float64) (waits []time.Duration) {
		for _, n := range n {
			waits = append(waits, time.Duration(n*float64(time.Second)))
		}
		return waits
	}
	after := func(value string) roundTripper { return respond(429, "", "Retry-After", value) }
	for name, tt := range map[string]struct {
		opts     client.Options
		server   roundTripper
		deadline time.Duration   // 0: none
		want     []time.Duration // the longest waits
		extra    time.Duration   // of each, for Retry-After
	}{
		"zero":                   {client.Options{}, respond(503, ""), 0, seconds(.1, .2, .4, .8, 1.6, 2, 2), 0},
		"options":                {client.Options{MaxAttempts: 4, MinBackoff: 3 * time.Second}, refused, 0, seconds(3, 6, 12), 0},
		"one try":                {client.Options{MaxAttempts: 1}, refused, 0, nil, 0},
		"Retry-After":            {client.Options{MaxAttempts: 3}, after("3"), 0, seconds(.1, .2), 3 * time.Second},
		"an invalid Retry-After": {client.Options{MaxAttempts: 3}, after("soon"), 0, seconds(.1, .2), 0},
		"a date": {client.Options{MaxAttempts: 2}, func(r *http.Request) (*http.Response, error) {
			return after(time.Now().Add(time.Minute).UTC().Format(http.TimeFormat))(r)
		}, 0, seconds(.1), time.Minute},
		"a date in the past": {client.Options{MaxAttempts: 2}, after("Fri, 20 Nov 1998 10:00:30 GMT"), 0, seconds(.1), 0},
		"a minute":           {client.Options{MaxAttempts: 2}, after("60"), 0, seconds(.1), time.Minute},
		"more than a minute": {client.Options{MaxAttempts: 2}, after("61"), 0, nil, 0},
		"more than a minute, but less than the deadline": {client.Options{MaxAttempts: 2}, after("120"), time.Hour, nil, 0},
		"more than the deadline":                         {client.Options{MaxAttempts: 2}, after("10"), 9 * time.Second, nil, 0},
		"more than there are numbers":                    {client.Options{MaxAttempts: 2}, after("99999999999999999999"), time.Hour, nil, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, start := t.Context(), time.Now()
			if tt.deadline > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, tt.deadline)
				defer cancel()
			}
			s := &script{steps: []roundTripper{tt.server}}
			_, err := newClient(t, &tt.opts, s.RoundTrip).ListPets(ctx, petstore.ListQuery{})
			if len(s.times) != len(tt.want)+1 || err == nil || errors.Is(err, context.DeadlineExceeded) || !time.Now().Equal(s.times[len(tt.want)]) {
				t.Fatalf("%s: %d requests, want %d; error %v after %v", name, len(s.times), len(tt.want)+1, err, time.Since(start))
			}
			for i, want := range tt.want {
				if got := s.times[i+1].Sub(s.times[i]) - tt.extra; got < want/2 || got > want {
					t.Errorf("%s: wait %d was %v, want %v to %v, and %v for Retry-After", name, i, got, want/2, want, tt.extra)
				}
			}
		})
	}
}

// If the context ends a call, the error wraps the context's error and the error of
// the last attempt.
func TestContext(t *testing.T) {
	busy := respond(429, "", "Retry-After", "10")
	hang := func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, context.Cause(r.Context())
	}
	for _, tt := range []struct {
		name, operation string
		server          roundTripper
		deadline        bool
		unknown         bool
		status          int // of the last response; 0: there is none
	}{
		{"a list that waits", "list", busy, false, false, 429},
		{"a create that waits", "create", busy, false, false, 429},
		{"a list that waits after a loss", "list", cut, false, false, 0},
		{"a create that waits after a loss", "create", cut, false, true, 0},
		{"a list in a request", "list", hang, true, false, 0},
		{"a create in a request", "create", hang, false, true, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			text, want := "the call was cancelled: ", context.Canceled
			time.AfterFunc(time.Second, func() { cancel(errors.New("the caller's reason")) })
			if tt.deadline {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, time.Second-1)
				defer cancel()
				text, want = "the call did not end before its deadline: ", context.DeadlineExceeded
			}
			c := newClient(t, &client.Options{RetryWrites: true, MaxAttempts: 100, MinBackoff: 700 * time.Millisecond}, tt.server)
			start := time.Now()
			_, err := calls[tt.operation](ctx, c)
			if petstore.CodeOf(err) != petstore.CodeUnavailable || !strings.HasPrefix(fmt.Sprint(err), text) || !errors.Is(err, want) ||
				time.Since(start).Round(1e9) != time.Second || errors.Is(err, client.ErrUnknownOutcome) != tt.unknown {
				t.Errorf("%s: the error is %v after %v", tt.name, err, time.Since(start))
			}
			if e, ok := errors.AsType[*client.ResponseError](err); ok != (tt.status != 0) || ok && e.Status != tt.status {
				t.Errorf("%s: the error %v does not say why the call waited", tt.name, err)
			}
		})
	}
}

// A request that is not sent leaves no doubt, and a response that came leaves none either.
func TestContextEndedBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := newClient(t, nil, func(r *http.Request) (*http.Response, error) {
		cancel()
		return respond(404, "")(r)
	})
	for _, want := range []petstore.Code{petstore.CodeNotFound, petstore.CodeUnavailable} {
		_, err := c.CreatePet(ctx, rex, none)
		if petstore.CodeOf(err) != want || errors.Is(err, client.ErrUnknownOutcome) || errors.Is(err, context.Canceled) != (want == petstore.CodeUnavailable) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}

// An error of another call, which is the cause of the context, does not say that this one was
// not sent.
func TestCause(t *testing.T) {
	for _, cause := range []error{&net.OpError{Op: "dial", Err: io.EOF}, &tls.CertificateVerificationError{Err: io.EOF}} {
		ctx, cancel := context.WithCancelCause(t.Context())
		c := newClient(t, nil, func(r *http.Request) (*http.Response, error) {
			cancel(cause)
			return nil, context.Cause(r.Context()) // as http.Transport does
		})
		if _, err := c.CreatePet(ctx, rex, none); !errors.Is(err, client.ErrUnknownOutcome) || !errors.Is(err, context.Canceled) {
			t.Errorf("after %T the error is %v", cause, err)
		}
	}
}
