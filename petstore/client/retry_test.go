package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
)

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
		{"a response that breaks the contract", handled(response(202, "{}")), fails, unknown, unknown},
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
		bubble(t, tt.name, func(t *testing.T) {
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
