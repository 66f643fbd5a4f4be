package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

const challenge = `Bearer realm="petstore"`

// TestAuthenticatorFails: only a refusal is a 401. No error lets a request in.
func TestAuthenticatorFails(t *testing.T) {
	failed := refused(503, "credential").with("Retry-After", "1")
	expired := petstore.Errorf(petstore.CodeUnauthorized, "this API key has expired")
	for _, c := range []struct {
		err  error
		want want
	}{
		{fmt.Errorf("checking: %w", expired), refused(401, "expired").with("Www-Authenticate", challenge)},
		{errors.New("secret: database is down"), failed},
		{petstore.Errorf(petstore.CodeUnavailable, "come back"), refused(503, "come back").with("Retry-After", "1")},
		{petstore.Errorf(petstore.CodeInvalid, "secret"), failed},
	} {
		s := newServer(t, nil)
		s.h = s.handler(s.store, httpapi.AuthenticatorFunc(func(context.Context, string) (string, error) { return "alice", c.err }), nil)
		for _, raw := range operations {
			s.want(c.want, raw)
			if c.want.says == "credential" {
				s.wantLog("request failed")
			} else {
				s.wantLog()
			}
		}
	}
}

// TestAccount: the contexts of service and hook have the account, of the key or of a middleware.
func TestAccount(t *testing.T) {
	var seen []string
	note := func(ctx context.Context) error {
		seen = append(seen, httpapi.Account(ctx))
		return nil
	}
	s := newServer(t, nil)
	s.h = s.handler(stub(note), testKeys, &httpapi.Options{
		Validate: func(ctx context.Context, _ petstore.NewPet) error { return note(ctx) },
	})
	s.want(created, post("/pets", rexBody))
	s.want(found, request("GET /pets", "Authorization: Bearer key-3"))
	s.want(refused(401, ""), request("GET /pets"))
	serve(t, s.h, httptest.NewRequestWithContext(httpapi.WithAccount(t.Context(), "dave"), "GET", "/pets", nil))
	if got, want := fmt.Sprint(seen, httpapi.Account(t.Context())), "[alice alice bob dave]"; got != want {
		t.Errorf("accounts %s, want %s", got, want)
	}
}
