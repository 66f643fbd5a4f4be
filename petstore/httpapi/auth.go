package httpapi

import (
	"context"
	"net/http"
	"strings"

	"example.com/animalstore/petstore"
)

// Authenticator finds the account of an API key. It is safe for concurrent
// use.
type Authenticator interface {
	// Authenticate returns the account that key belongs to. It returns the
	// same principal for every key of an account, so that an idempotency key
	// stays valid when the API key changes. key is one or more visible ASCII
	// characters.
	//
	// It refuses a key (unknown, expired) with a *petstore.Error of
	// petstore.CodeUnauthorized, whose message the client sees: 401. Any
	// other error means that the key could not be checked, and is logged:
	// 503. Neither may contain the key.
	Authenticate(ctx context.Context, key string) (principal string, err error)
}

// AuthenticatorFunc makes an [Authenticator] of a function.
type AuthenticatorFunc func(ctx context.Context, key string) (principal string, err error)

// Authenticate calls f.
func (f AuthenticatorFunc) Authenticate(ctx context.Context, key string) (string, error) {
	return f(ctx, key)
}

// WithPrincipal returns a context for a request that a middleware has authenticated, in
// any way. The handlers of this package do not look at the credential of such a request:
// it acts for the account principal. If principal is "", they do.
func WithPrincipal(ctx context.Context, principal string) context.Context {
	return context.WithValue(ctx, principalKey{}, &principal)
}

// Principal returns the account that the [Authenticator] or a middleware found for the
// request of ctx, or "" if there is none. The contexts that a handler passes to
// the service and to Options.Validate have it.
func Principal(ctx context.Context) string {
	if principal, ok := ctx.Value(principalKey{}).(*string); ok {
		return *principal
	}
	return ""
}

type principalKey struct{}

var (
	errNoCredential  = petstore.Errorf(petstore.CodeUnauthorized, "Authorization: an API key is required, as a bearer token in exactly one field")
	errNoPrincipal   = petstore.Errorf(petstore.CodeUnauthorized, "a credential is required") // of a middleware
	errBadCredential = petstore.Errorf(petstore.CodeUnauthorized, "Authorization: the bearer token is not a valid API key")
)

// Authenticate returns the account that the credential in a request's header
// belongs to, or the error that the handlers of this package respond with.
func Authenticate(ctx context.Context, auth Authenticator, header http.Header) (principal string, err error) {
	fields := header.Values("Authorization")
	key := ""
	if len(fields) == 1 {
		key = bearerToken(fields[0])
	}
	if key == "" {
		return "", errNoCredential
	}
	if !visibleASCII(key) {
		return "", errBadCredential
	}
	principal, err = auth.Authenticate(ctx, key)
	switch {
	case petstore.CodeOf(err) == petstore.CodeUnauthorized:
		return "", err
	case err != nil:
		return "", &petstore.Error{
			Code:    petstore.CodeUnavailable,
			Message: "the credential cannot be checked now; try again later",
			Err:     err,
		}
	}
	return principal, nil
}

// authenticate checks the request's credential, and puts the principal into the
// exchange and its context.
func (x *exchange) authenticate() (err error) {
	if x.seen.Principal = Principal(x.ctx); x.seen.Principal != "" {
		return nil
	}
	if x.h.auth == nil {
		return errNoPrincipal
	}
	if x.seen.Principal, err = Authenticate(x.ctx, x.h.auth, x.r.Header); err != nil {
		return err
	}
	x.ctx = context.WithValue(x.ctx, principalKey{}, &x.seen.Principal)
	return nil
}

// bearerToken returns the token of an Authorization field's value, or "" if
// the scheme is another or the token is empty. Schemes are case-insensitive, and
// any number of spaces may follow (RFC 9110, section 11.4).
func bearerToken(field string) string {
	scheme, token, _ := strings.Cut(field, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimLeft(token, " ")
}

// challenge returns the WWW-Authenticate field of a 401. It names an error
// only if a bearer token was sent (RFC 6750, section 3.1).
func challenge(authorization []string) string {
	for _, field := range authorization {
		if bearerToken(field) != "" {
			return `Bearer realm="petstore", error="invalid_token"`
		}
	}
	return `Bearer realm="petstore"`
}

// visibleASCII reports whether all characters of s are visible ASCII.
func visibleASCII(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
