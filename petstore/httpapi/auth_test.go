package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

const challenge = `Bearer realm="petstore"`

// TestCredential has what the suite does not send: a field that is given twice or folded, and
// white space. No error has the key in it.
func TestCredential(t *testing.T) {
	s := newServer(t, nil)
	s.add("rex")
	badCredential := refused(401, "API key").with("Www-Authenticate", challenge)
	for _, c := range []struct {
		want   want
		fields []string // one each, or more than one separated by a bar
	}{
		{badCredential, []string{
			"X: none", "Authorization: Bearer: key-1", "Authorization: Bearer=key-1", "Authorization: Bearer key-1,",
			"Authorization: Bearer\tkey-1", "Authorization: Bearer key-1\tx", "Authorization: Bearer \tkey-1",
			"Proxy-Authorization: Bearer key-1", "Authorization: Bearer key-1\xc3\xa9", "Authorization: Bearer " + strings.Repeat("x", 60000),
			authorized + "|" + authorized, authorized + "|Authorization: Bearer nope", "Authorization: Basic eA==|" + authorized,
		}},
		{found, []string{
			"Authorization: Bearer\r\n key-1", "Authorization: Bearer key-3", "Authorization: BEARER key-1",
			"Authorization: Bearer   key-1", "Authorization: \t Bearer key-1 \t ",
		}},
	} {
		for _, fields := range c.fields {
			lines := strings.Split(fields, "|")
			s.want(c.want, request("GET /pets", lines...), request("GET /pets/1", lines...))
		}
	}
	// An Authenticator sees only keys of visible ASCII.
	s.h = s.handler(s.store, httpapi.AuthenticatorFunc(func(context.Context, string) (string, error) { return "alice", nil }), nil)
	s.want(found, request("GET /pets", "Authorization: Bearer !~"))
	s.want(badCredential, request("GET /pets", "Authorization: Bearer a b"), request("GET /pets", "Authorization: Bearer a\xc3\xa9"))
}

// TestAuthenticatorFails: only a refusal is a 401. No error lets a request in.
func TestAuthenticatorFails(t *testing.T) {
	invalid := refused(401, "expired").with("Www-Authenticate", challenge)
	failed := refused(503, "credential").with("Retry-After", "1")
	expired := petstore.Errorf(petstore.CodeUnauthorized, "this API key has expired")
	for _, c := range []struct {
		err  error
		want want
	}{
		{expired, invalid},
		{fmt.Errorf("checking: %w", expired), invalid},
		{&petstore.Error{Code: petstore.CodeUnauthorized}, refused(401, "Unauthorized")},
		{errors.New("secret: database is down"), failed},
		{petstore.Errorf(petstore.CodeUnavailable, "secret"), failed},
		{petstore.Errorf(petstore.CodeInvalid, "secret"), failed},
		{context.DeadlineExceeded, failed},
	} {
		auth := httpapi.AuthenticatorFunc(func(context.Context, string) (string, error) { return "alice", c.err })
		s := newServer(t, nil)
		s.h = s.handler(s.store, auth, nil)
		for _, raw := range operations {
			s.want(c.want, raw)
			if c.want.status < 500 {
				s.wantLog()
			} else {
				s.wantLog("request failed")
			}
		}
	}
	s := newServer(t, nil)
	s.h = httpapi.New(s.store, httpapi.AuthenticatorFunc(func(context.Context, string) (string, error) { panic("boom") }), nil) // without a logger
	s.want(internal, get("/pets"))
}

// TestAccount: the contexts of service and hook have the account.
func TestAccount(t *testing.T) {
	var seen recorder[string]
	note := func(ctx context.Context, _ any) error {
		seen.add(httpapi.Account(ctx))
		if other := httpapi.Account(httpapi.WithAccount(ctx, "carol")); other != "carol" {
			t.Errorf("in a context for carol the account is %q", other)
		}
		if ctx.Value(sentKey{}) == nil {
			t.Errorf("not the request's context: %v", ctx)
		}
		return nil
	}
	s := newServer(t, nil)
	s.h = s.handler(stub(note), testKeys, &httpapi.Options{
		Validate: func(ctx context.Context, _ petstore.NewPet) error { return note(ctx, nil) },
	})
	s.want(created, post("/pets", rexBody))
	s.want(found, request("GET /pets", "Authorization: Bearer key-3"))
	s.want(refused(401, ""), request("GET /pets"))
	if got, want := fmt.Sprint(seen.take(), httpapi.Account(t.Context())), "[alice alice bob]"; got != want {
		t.Errorf("accounts %s, want %s", got, want)
	}
}
