package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
)

// The waits double up to 20 times MinWait, and each is shortened by at most one half. The
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
		"options":                {client.Options{Tries: 4, MinWait: 3 * time.Second}, refused, 0, seconds(3, 6, 12), 0},
		"one try":                {client.Options{Tries: 1}, refused, 0, nil, 0},
		"Retry-After":            {client.Options{Tries: 3}, after("3"), 0, seconds(.1, .2), 3 * time.Second},
		"an invalid Retry-After": {client.Options{Tries: 3}, after("soon"), 0, seconds(.1, .2), 0},
		"a date": {client.Options{Tries: 2}, func(r *http.Request) (*http.Response, error) {
			return after(time.Now().Add(time.Minute).UTC().Format(http.TimeFormat))(r)
		}, 0, seconds(.1), time.Minute},
		"a date in the past":          {client.Options{Tries: 2}, after("Fri, 20 Nov 1998 10:00:30 GMT"), 0, seconds(.1), 0},
		"a minute":                    {client.Options{Tries: 2}, after("60"), 0, seconds(.1), time.Minute},
		"more than a minute":          {client.Options{Tries: 2}, after("61"), 0, nil, 0},
		"more before the deadline":    {client.Options{Tries: 2}, after("120"), time.Hour, seconds(.1), 2 * time.Minute},
		"more than the deadline":      {client.Options{Tries: 2}, after("10"), 9 * time.Second, nil, 0},
		"more than there are numbers": {client.Options{Tries: 2}, after("99999999999999999999"), time.Hour, nil, 0},
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
// the last try.
func TestContext(t *testing.T) {
	hang := func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, context.Cause(r.Context())
	}
	for name, tt := range map[string]struct {
		server  roundTripper
		unknown bool // of a create
	}{
		"while waiting":              {respond(429, "", "Retry-After", "10"), false},
		"while waiting after a loss": {cut, true},
		"in a request":               {hang, true},
	} {
		for operation, write := range map[string]bool{"list": false, "create": true} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				text, want := "the call was cancelled: ", context.Canceled
				time.AfterFunc(time.Second, func() { cancel(errors.New("the caller's reason")) })
				if name == "in a request" && operation == "list" {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, time.Second-1)
					defer cancel()
					text, want = "the call did not end before its deadline: ", context.DeadlineExceeded
				}
				s := &script{steps: []roundTripper{tt.server}, honours: true}
				c := newClient(t, &client.Options{Tries: 100, MinWait: 700 * time.Millisecond}, s.RoundTrip)
				start := time.Now()
				_, err := calls[operation](ctx, c)
				if petstore.CodeOf(err) != petstore.CodeUnavailable || !strings.HasPrefix(fmt.Sprint(err), text) || !errors.Is(err, want) ||
					time.Since(start).Round(1e9) != time.Second || errors.Is(err, client.ErrUnknownOutcome) != (tt.unknown && write) {
					t.Errorf("%s, %s: the error is %v after %v", name, operation, err, time.Since(start))
				}
				if e, ok := errors.AsType[*client.ResponseError](err); name == "while waiting" && (!ok || e.Status != 429) {
					t.Errorf("the error %v does not say why the call waited", err)
				}
			})
		}
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
