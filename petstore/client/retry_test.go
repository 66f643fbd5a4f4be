package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
)

// refused is a server to which no connection can be opened.
func refused(*http.Request) (*http.Response, error) {
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
}

// cut is a server that closes the connection after a request.
func cut(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		io.Copy(io.Discard, r.Body)
	}
	return nil, io.EOF
}

// cutOff is a server that closes the connection within the body of its response.
func cutOff(r *http.Request) (*http.Response, error) {
	resp, err := okay(r)
	resp.Body = io.NopCloser(iotest.TimeoutReader(iotest.OneByteReader(resp.Body)))
	return resp, err
}

// okay is a server that responds with success.
func okay(r *http.Request) (*http.Response, error) {
	switch {
	case r.Method == "POST" && strings.HasSuffix(r.URL.Path, "/messages"):
		return handled(response(202, `{"id":"m","message":"hi","status":"queued","createdAt":"2026-11-20T12:30:00Z"}`))(r)
	case r.Method == "POST":
		return handled(response(201, `{"id":7,"name":"Rex","categoryId":1}`))(r)
	case strings.HasSuffix(r.URL.Path, "/pets"):
		return handled(response(200, `[]`))(r)
	}
	return handled(response(200, `{"id":7,"name":"Rex","categoryId":1}`))(r)
}

func status(code int, header ...string) roundTripper { return handled(response(code, "", header...)) }

// script is a server that responds to each request with the next step, and to
// further requests with the last one.
type script struct {
	steps []roundTripper
	times []time.Time
	keys  []string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	n := len(s.times)
	s.times = append(s.times, time.Now())
	s.keys = append(s.keys, sentKey(r))
	return s.steps[min(n, len(s.steps)-1)](r)
}

// The client sends some requests again, depending on the failure and the operation.
func TestRetry(t *testing.T) {
	mismatch := `{"code":"idempotency_mismatch"}`
	type reaction int
	const (
		fails   reaction = iota // the call returns the error
		unknown                 // likewise, as one of unknown outcome
		again                   // the call succeeds with a second request
	)
	for _, tt := range []struct {
		name                     string
		first                    roundTripper
		read, create, idempotent reaction // idempotent: of a create, with IdempotentServer
	}{
		{"no connection", refused, again, again, again},
		{"an untrusted certificate", func(*http.Request) (*http.Response, error) {
			return nil, &tls.CertificateVerificationError{Err: io.EOF}
		}, fails, fails, fails},
		{"a cut connection", cut, again, unknown, again},
		{"a cut response", cutOff, again, unknown, again},
		{"400", status(400), fails, fails, fails},
		{"401", status(401), fails, fails, fails},
		{"404", status(404), fails, fails, fails},
		{"408", status(408), again, again, again},
		{"409", handled(response(409, `{"code":"conflict"}`)), fails, fails, again},
		{"409 for a mismatch", handled(response(409, mismatch)), fails, fails, fails},
		{"422", handled(response(422, mismatch)), fails, fails, fails},
		{"429", status(429), again, again, again},
		{"500", status(500), again, unknown, again},
		{"501", status(501), fails, fails, fails},
		{"502", status(502), again, unknown, again},
		{"503", status(503), again, unknown, again},
		{"504", status(504), again, unknown, again},
		{"505", status(505), fails, unknown, unknown},
		{"507", status(507), fails, fails, fails},
		{"303", status(303, "Location", "/"), fails, unknown, unknown},
		{"307", status(307, "Location", "/"), fails, fails, fails},
		{"a response that breaks the contract", status(204), fails, unknown, unknown},
	} {
		for operation, wants := range map[string][2]reaction{
			"list":   {tt.read, tt.read},
			"get":    {tt.read, tt.read},
			"create": {tt.create, tt.idempotent},
			"submit": {tt.create, tt.idempotent},
		} {
			if tt.name == "409" && (operation == "list" || operation == "get") {
				continue // no server sends that
			}
			for i, want := range wants {
				if tt.name == "a response that breaks the contract" && operation == "submit" {
					tt.first = handled(response(202, "{}"))
				}
				synctest.Test(t, func(t *testing.T) {
					s := &script{steps: []roundTripper{tt.first, okay}}
					c := offline(t, &client.Options{IdempotentServer: i == 1}, s.RoundTrip)
					_, err := calls[operation](c)
					requests := 1
					if want == again {
						requests = 2
					}
					if len(s.times) != requests || (err == nil) != (want == again) || errors.Is(err, client.ErrUnknownOutcome) != (want == unknown) {
						t.Errorf("%s, %s, IdempotentServer %v: %d requests, error %v", tt.name, operation, i == 1, len(s.times), err)
					}
					if (s.keys[0] != "") != (operation == "create" || operation == "submit") || s.keys[0] != s.keys[len(s.keys)-1] {
						t.Errorf("%s, %s: the keys were %q", tt.name, operation, s.keys)
					}
					if _, ok := errors.AsType[*petstore.Error](err); err != nil && !ok {
						t.Errorf("%s, %s: the error %v is not a *petstore.Error", tt.name, operation, err)
					}
				})
			}
		}
	}
}

// After a lost creation the outcome stays unknown, whatever the next response is.
func TestUnknownOutcomeStays(t *testing.T) {
	for name, last := range map[string]roundTripper{"401": status(401), "no connection": refused, "409": status(409)} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{steps: []roundTripper{cut, last}}
			_, err := offline(t, &client.Options{IdempotentServer: true}, s.RoundTrip).CreatePet(ctx, rex, none)
			if !errors.Is(err, client.ErrUnknownOutcome) || !strings.Contains(err.Error(), "; it is unknown whether the server carried out the request") {
				t.Errorf("%s: the error is %v", name, err)
			}
		})
	}
}

// The waits double up to MaxWait, and each is shortened by at most one half.
func TestWaits(t *testing.T) {
	seconds := func(n ...float64) (waits []time.Duration) {
		for _, n := range n {
			waits = append(waits, time.Duration(n*float64(time.Second)))
		}
		return waits
	}
	for _, tt := range []struct {
		name   string
		retry  client.Retry
		server roundTripper
		want   []time.Duration // the longest waits
		extra  time.Duration   // of each, for Retry-After
	}{
		{"zero", client.Retry{}, status(503), seconds(.1, .2, .4, .8, 1.6, 2, 2), 0},
		{"a policy", client.Retry{Tries: 4, MinWait: 3 * time.Second, MaxWait: 5 * time.Second}, refused, seconds(3, 5, 5), 0},
		{"one try", client.Retry{Tries: 1}, refused, nil, 0},
		{"MaxWait below MinWait", client.Retry{Tries: 3, MinWait: time.Minute}, refused, seconds(60, 60), 0},
		{"Retry-After", client.Retry{Tries: 3}, status(429, "Retry-After", "3"), seconds(.1, .2), 3 * time.Second},
		{"Retry-After of 0", client.Retry{Tries: 3}, status(429, "Retry-After", "0"), seconds(.1, .2), 0},
		{"an invalid Retry-After", client.Retry{Tries: 3}, status(429, "Retry-After", "soon"), seconds(.1, .2), 0},
		{"a date", client.Retry{Tries: 2}, func(r *http.Request) (*http.Response, error) {
			return status(503, "Retry-After", time.Now().Add(time.Minute).UTC().Format(http.TimeFormat))(r)
		}, seconds(.1), time.Minute},
		{"a date by the server's clock", client.Retry{Tries: 2}, status(503, "Retry-After", "Fri, 20 Nov 2026 10:00:30 GMT", "Date", "Fri, 20 Nov 2026 10:00:00 GMT"),
			seconds(.1), 30 * time.Second},
		{"a date in the past", client.Retry{Tries: 2}, status(503, "Retry-After", "Fri, 20 Nov 1998 10:00:30 GMT"), seconds(.1), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{steps: []roundTripper{tt.server}}
				if _, err := offline(t, &client.Options{Retry: tt.retry}, s.RoundTrip).ListPets(ctx, petstore.ListQuery{}); err == nil {
					t.Error("no error")
				}
				if len(s.times) != len(tt.want)+1 {
					t.Fatalf("%d requests, want %d", len(s.times), len(tt.want)+1)
				}
				for i, want := range tt.want {
					if got := s.times[i+1].Sub(s.times[i]) - tt.extra; got < want/2 || got > want {
						t.Errorf("wait %d was %v, want %v to %v, and %v for Retry-After", i, got, want/2, want, tt.extra)
					}
				}
			})
		})
	}
}

// The client does not wait for longer than the context allows.
func TestRetryAfterTooLong(t *testing.T) {
	for _, tt := range []struct {
		after    string
		deadline time.Duration // 0: none
		waits    bool
	}{
		{"60", 0, true},
		{"61", 0, false},
		{"99999999999999999999", 0, false},
		{"99999999999999999999", time.Hour, false},
		{"120", time.Hour, true},
		{"10", 9 * time.Second, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx := t.Context()
			if tt.deadline > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, tt.deadline)
				defer cancel()
			}
			s := &script{steps: []roundTripper{status(429, "Retry-After", tt.after), okay}}
			start := time.Now()
			_, err := offline(t, nil, s.RoundTrip).ListPets(ctx, petstore.ListQuery{})
			if (err == nil) != tt.waits || err != nil && !time.Now().Equal(start) {
				t.Errorf("Retry-After %s with %v left: %v after %v", tt.after, tt.deadline, err, time.Since(start))
			}
			if e, ok := errors.AsType[*client.ResponseError](err); !tt.waits && (!ok || e.Status != 429) {
				t.Errorf("Retry-After %s with %v left: the error is %v", tt.after, tt.deadline, err)
			}
		})
	}
}

// With a deadline, the client reaches a server that recovers shortly before the
// deadline. After a 500 it gives up earlier.
func TestTriesUntilDeadline(t *testing.T) {
	for _, tt := range []struct {
		name   string
		down   roundTripper
		passes bool
	}{
		{"refused connections", refused, true},
		{"503", status(503), true},
		{"500", status(500), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, sent := time.Now(), 0
				c := offline(t, nil, func(r *http.Request) (*http.Response, error) {
					if sent++; time.Since(start) < 2*time.Minute-200*time.Millisecond {
						return tt.down(r)
					}
					return okay(r)
				})
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				if _, err := c.ListPets(ctx, petstore.ListQuery{}); (err == nil) != tt.passes || !tt.passes && sent != 8 {
					t.Errorf("%d requests, error %v", sent, err)
				}
			})
		})
	}
}

// If the context ends a call, the error wraps the context's error and the error of
// the last try.
func TestContext(t *testing.T) {
	hang := func(r *http.Request) (*http.Response, error) {
		if r.Body != nil {
			io.Copy(io.Discard, r.Body)
		}
		<-r.Context().Done()
		return nil, context.Cause(r.Context())
	}
	for name, tt := range map[string]struct {
		server  roundTripper
		unknown bool // of a create
	}{
		"while waiting":              {status(429, "Retry-After", "10"), false},
		"while waiting after a loss": {cut, true},
		"in a request":               {hang, true},
	} {
		for operation, write := range map[string]bool{"list": false, "create": true} {
			t.Run(name+"/"+operation, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancelCause(t.Context())
					time.AfterFunc(time.Second, func() { cancel(errors.New("the caller's reason")) })
					s := &script{steps: []roundTripper{tt.server}}
					c := offline(t, &client.Options{IdempotentServer: true, Retry: client.Retry{Tries: 100, MinWait: 700 * time.Millisecond}}, s.RoundTrip)
					start := time.Now()
					var err error
					if write {
						_, err = c.CreatePet(ctx, rex, none)
					} else {
						_, err = c.ListPets(ctx, petstore.ListQuery{})
					}
					if petstore.CodeOf(err) != petstore.CodeUnavailable || !errors.Is(err, context.Canceled) || time.Since(start) != time.Second ||
						errors.Is(err, client.ErrUnknownOutcome) != (tt.unknown && write) {
						t.Errorf("the error is %v after %v", err, time.Since(start))
					}
					if e, ok := errors.AsType[*client.ResponseError](err); name == "while waiting" && (!ok || e.Status != 429) {
						t.Errorf("the error %v does not say why the call waited", err)
					}
				})
			})
		}
	}
}

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := offline(t, nil, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}).ListPets(ctx, petstore.ListQuery{})
		if !errors.Is(err, context.DeadlineExceeded) || !strings.HasPrefix(err.Error(), "the call did not end before its deadline: ") {
			t.Errorf("the error is %v", err)
		}
	})
}

// After a request has ended, its body cannot be read.
func TestLateBody(t *testing.T) {
	var body io.ReadCloser
	c := offline(t, &client.Options{Retry: client.Retry{Tries: 1}}, func(r *http.Request) (*http.Response, error) {
		body = r.Body
		return nil, errors.New("no connection")
	})
	if _, err := c.CreatePet(ctx, rex, none); errors.Is(err, client.ErrUnknownOutcome) {
		t.Errorf("the error is %v", err)
	}
	if b, err := io.ReadAll(body); len(b) > 0 || err == nil {
		t.Errorf("read %q afterwards", b)
	}
}

func TestRetryLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		opts := &client.Options{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
		s := &script{steps: []roundTripper{refused, okay}}
		if _, err := offline(t, opts, s.RoundTrip).ListPets(ctx, petstore.ListQuery{}); err != nil {
			t.Error(err)
		}
		if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, `level=DEBUG msg="sending the request again"`) || !strings.Contains(got, "connection refused") {
			t.Errorf("logged\n%s", got)
		}
	})
}

// If a reused connection ends after a creation was sent, net/http must not send the
// creation again. Only the client may, with IdempotentServer.
func TestLostOnReusedConnection(t *testing.T) {
	for _, idempotent := range []bool{false, true} {
		t.Run(strconv.FormatBool(idempotent), func(t *testing.T) {
			var mu sync.Mutex
			var keys []string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				if r.Method == "GET" {
					response(200, "[]")(w, r)
					return
				}
				keys = append(keys, r.Header.Get("Idempotency-Key"))
				if len(keys) == 1 {
					raw("")(w, r)
					return
				}
				response(201, `{"id":7,"name":"Rex","categoryId":1}`)(w, r)
			}))
			defer srv.Close()
			c := newClient(t, srv.URL, &client.Options{IdempotentServer: idempotent})
			if _, err := c.ListPets(ctx, petstore.ListQuery{}); err != nil {
				t.Fatal(err)
			}
			_, err := c.CreatePet(ctx, rex, none)
			mu.Lock()
			defer mu.Unlock()
			want := 1
			if idempotent {
				want = 2
			}
			if len(keys) != want || keys[0] == "" || keys[0] != keys[want-1] || (err == nil) != idempotent || errors.Is(err, client.ErrUnknownOutcome) == idempotent {
				t.Errorf("the server received creations with the keys %q, and the error is %v", keys, err)
			}
		})
	}
}
