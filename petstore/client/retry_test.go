package client_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
)

// The client sends some requests again, depending on the failure, on the operation and on
// whether the server says that it honours Idempotency-Key.
func TestRetry(t *testing.T) {
	mismatch := `{"code":"idempotency_mismatch"}`
	type reaction int
	const (
		fails   reaction = iota // the call returns the error
		unknown                 // likewise, as one of unknown outcome
		again                   // the call succeeds with a second request
	)
	for _, tt := range []struct {
		name                  string
		first                 roundTripper
		read, create, honours reaction // honours: of a create, at a server that honours Idempotency-Key
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
		{"503", status(503), again, unknown, again},
		{"505", status(505), fails, unknown, unknown},
		{"507", status(507), fails, fails, fails},
		{"302", status(302, "Location", "/"), fails, unknown, unknown},
		{"101", status(101), fails, unknown, unknown},
		{"307", status(307, "Location", "/"), fails, fails, fails},
		{"a response that breaks the contract", handled(response(202, "{}")), fails, unknown, unknown},
	} {
		for operation, wants := range map[string][2]reaction{
			"list":   {tt.read, tt.read},
			"get":    {tt.read, tt.read},
			"create": {tt.create, tt.honours},
			"submit": {tt.create, tt.honours},
		} {
			if tt.name == "409" && (operation == "list" || operation == "get") {
				continue // no server sends that
			}
			for i, want := range wants {
				synctest.Test(t, func(t *testing.T) {
					s := &script{steps: []roundTripper{tt.first, okay}, honours: i == 1}
					_, err := calls[operation](offline(t, nil, s.RoundTrip))
					requests := 1
					if want == again {
						requests = 2
					}
					if len(s.times) != requests || (err == nil) != (want == again) || errors.Is(err, client.ErrUnknownOutcome) != (want == unknown) {
						t.Errorf("%s, %s, honours %v: %d requests, error %v", tt.name, operation, i == 1, len(s.times), err)
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

// Messages may have a server of their own, which then says itself whether it honours
// Idempotency-Key.
func TestRetryMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := 0
		c := offline(t, &client.Options{MessagesURL: "http://messages.test"}, func(r *http.Request) (*http.Response, error) {
			switch sent++; {
			case r.URL.Host != "messages.test":
				t.Errorf("requested %s", r.URL)
			case r.Method == "GET":
				return status(405, "Accept-Idempotency-Key", "?1")(r)
			case sent == 1:
				return cut(r)
			}
			return okay(r)
		})
		if _, err := c.SubmitMessage(ctx, "hi", none); err != nil || sent != 3 {
			t.Errorf("%d requests, error %v", sent, err)
		}
	})
}

// After a lost creation the outcome stays unknown, whatever the next response is.
func TestUnknownOutcomeStays(t *testing.T) {
	for name, last := range map[string]roundTripper{"401": status(401), "no connection": refused, "409": status(409)} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{steps: []roundTripper{cut, last}, honours: true}
			_, err := offline(t, nil, s.RoundTrip).CreatePet(ctx, rex, none)
			if !errors.Is(err, client.ErrUnknownOutcome) || !strings.Contains(err.Error(), ": it is unknown whether the server carried out the request") {
				t.Errorf("%s: the error is %v", name, err)
			}
		})
	}
}

// A response to the question whether the server honours the key may ask the client to
// wait, and the client does, or gives up.
func TestAskedToWait(t *testing.T) {
	for after, want := range map[string]time.Duration{"30": 30 * time.Second, "120": 0} {
		synctest.Test(t, func(t *testing.T) {
			var sent []time.Time
			c := offline(t, nil, func(r *http.Request) (*http.Response, error) {
				if r.Method == "GET" {
					return status(429, "Accept-Idempotency-Key", "?1", "Retry-After", after)(r)
				}
				if sent = append(sent, time.Now()); len(sent) == 1 {
					return cut(r)
				}
				return okay(r)
			})
			_, err := c.CreatePet(ctx, rex, none)
			if want == 0 && (len(sent) != 1 || !errors.Is(err, client.ErrUnknownOutcome)) || want > 0 && (len(sent) != 2 || sent[1].Sub(sent[0]) < want) {
				t.Errorf("Retry-After: %s: requests at %v, error %v", after, sent, err)
			}
		})
	}
}
