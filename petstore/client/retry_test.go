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
		code                  petstore.Code
	}{
		{"no connection", refused, again, again, again, petstore.CodeUnavailable},
		{"an untrusted certificate", func(*http.Request) (*http.Response, error) {
			return nil, &tls.CertificateVerificationError{Err: io.EOF}
		}, fails, fails, fails, petstore.CodeUnavailable},
		{"a cut connection", cut, again, unknown, again, petstore.CodeUnavailable},
		{"a cut response", cutOff(okay), again, unknown, again, petstore.CodeUnavailable},
		{"a response that breaks the contract", respond(202, "{}"), fails, unknown, unknown, petstore.CodeInternal},
		{"101", respond(101, ""), fails, unknown, unknown, petstore.CodeInternal},
		{"302", respond(302, "", "Location", "/"), fails, unknown, unknown, petstore.CodeInternal},
		{"307", respond(307, "", "Location", "/"), fails, fails, fails, petstore.CodeInternal},
		{"308", respond(308, "", "Location", "/"), fails, fails, fails, petstore.CodeInternal},
		{"400 with another code", respond(400, `{"code":"internal"}`), fails, fails, fails, petstore.CodeInvalid},
		{"401", respond(401, ""), fails, fails, fails, petstore.CodeUnauthorized},
		{"403", respond(403, ""), fails, fails, fails, petstore.CodeUnauthorized},
		{"404", respond(404, ""), fails, fails, fails, petstore.CodeNotFound},
		{"408", respond(408, ""), again, again, again, petstore.CodeUnavailable},
		{"409", respond(409, `{"code":"conflict"}`), fails, fails, again, petstore.CodeConflict},
		{"409 for a mismatch", respond(409, `{"code":"idempotency_mismatch"}`), fails, fails, fails, petstore.CodeMismatch},
		{"409 for another reason", respond(409, `{"code":"duplicate"}`), fails, fails, fails, petstore.CodeInvalid},
		{"410", respond(410, ""), fails, fails, fails, petstore.CodeNotFound},
		{"422", respond(422, `{"code":"unprocessable"}`), fails, fails, fails, petstore.CodeInvalid},
		{"429", respond(429, ""), again, again, again, petstore.CodeUnavailable},
		{"500 with another code", respond(500, `{"code":"invalid"}`), again, unknown, again, petstore.CodeInternal},
		{"501", respond(501, ""), fails, fails, fails, petstore.CodeInternal},
		{"502", respond(502, ""), again, unknown, again, petstore.CodeUnavailable},
		{"503", respond(503, ""), again, unknown, again, petstore.CodeUnavailable},
		{"504", respond(504, ""), again, unknown, again, petstore.CodeUnavailable},
		{"505", respond(505, ""), fails, unknown, unknown, petstore.CodeInternal},
		{"507", respond(507, ""), fails, fails, fails, petstore.CodeFull},
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
					_, err := calls[operation](ctx, newClient(t, nil, s.RoundTrip))
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
			s := &script{steps: []roundTripper{cut, last}, honours: true}
			_, err := newClient(t, nil, s.RoundTrip).CreatePet(ctx, rex, none)
			if !errors.Is(err, client.ErrUnknownOutcome) || !strings.Contains(err.Error(), ": it is unknown whether the server carried out the request") {
				t.Errorf("%s: the error is %v", name, err)
			}
		})
	}
}

// A response to the question whether the server honours the key may be an error, and may
// ask the client to wait. The client does so, or returns the error. Messages may have a
// server of their own.
func TestAskedToWait(t *testing.T) {
	for after, want := range map[string]int{"30": 2, "120": 1} {
		for operation, host := range map[string]string{"create": "pets.test", "submit": "messages.test"} {
			synctest.Test(t, func(t *testing.T) {
				s := &script{steps: []roundTripper{cut, okay}}
				c := newClient(t, &client.Options{MessagesURL: "http://messages.test"}, func(r *http.Request) (*http.Response, error) {
					if r.URL.Host != host {
						t.Errorf("%s requested %s", operation, r.URL)
					}
					if r.Method == "GET" {
						return respond(429, "", "Accept-Idempotency-Key", "?1", "Retry-After", after)(r)
					}
					return s.RoundTrip(r)
				})
				_, err := calls[operation](ctx, c)
				if len(s.times) != want || errors.Is(err, client.ErrUnknownOutcome) != (want == 1) || want == 2 && s.times[1].Sub(s.times[0]) < 30*time.Second {
					t.Errorf("%s, Retry-After: %s: requests at %v, error %v", operation, after, s.times, err)
				}
			})
		}
	}
}
