package httpapi

import (
	"context"
	"strings"

	"example.com/animalstore/petstore"
)

// Authenticator tells whose an API key is. It is safe for concurrent use.
type Authenticator interface {
	// Authenticate returns the account that key belongs to. Every key of an
	// account gives the same principal, so that idempotency keys outlive a
	// change of API key. key is one or more visible ASCII characters.
	//
	// It refuses a key (unknown, expired) with a *petstore.Error of
	// petstore.CodeUnauthorized, whose message the client is shown: 401. Any
	// other error means that it could not tell, and is logged: 503. Neither
	// may contain the key.
	Authenticate(ctx context.Context, key string) (principal string, err error)
}

// Principal returns whose credential the request came with that ctx belongs
// to, as the [Authenticator] named them; "" if ctx belongs to none. Contexts
// that a handler passes to the service, to Options.Validate and, once the
// credential has been accepted, to Options.Observe have it.
func Principal(ctx context.Context) string {
	if c, ok := ctx.Value(principalKey{}).(*authenticated); ok {
		return c.principal
	}
	return ""
}

type principalKey struct{}

// authenticated is a request's context with its principal. context.WithValue
// would allocate twice, and http.Request.WithContext copy the request.
type authenticated struct {
	context.Context
	principal string
}

func (c *authenticated) Value(key any) any {
	if key == (principalKey{}) {
		return c
	}
	return c.Context.Value(key)
}

var (
	errNoCredential = &petstore.Error{
		Code:    petstore.CodeUnauthorized,
		Message: "Authorization: an API key is required, as a bearer token in exactly one field",
	}
	errBadCredential = &petstore.Error{
		Code:    petstore.CodeUnauthorized,
		Message: "Authorization: the bearer token is not a valid API key",
	}
)

// authenticate checks the request's credential and puts the principal into
// the exchange and its context.
func (x *exchange) authenticate() error {
	fields := x.r.Header["Authorization"]
	key := ""
	if len(fields) == 1 {
		key = bearerToken(fields[0])
	}
	if key == "" {
		return errNoCredential
	}
	if !visibleASCII(key) {
		return errBadCredential
	}
	principal, err := x.h.auth.Authenticate(x.ctx, key)
	switch {
	case err == nil:
	case petstore.CodeOf(err) == petstore.CodeUnauthorized:
		return err
	default:
		return &petstore.Error{
			Code:    petstore.CodeUnavailable,
			Message: "the credential cannot be checked now; try again later",
			Err:     err,
		}
	}
	x.principal = principal
	x.ctx = &authenticated{x.ctx, principal}
	return nil
}

// bearerToken returns the token of an Authorization field's value, or "" if
// it is of another scheme or empty. Schemes are compared without case, and
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
func challenge(authorization []string) []string {
	for _, field := range authorization {
		if bearerToken(field) != "" {
			return []string{`Bearer realm="petstore", error="invalid_token"`}
		}
	}
	return []string{`Bearer realm="petstore"`}
}

// visibleASCII reports whether s has no other characters.
func visibleASCII(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
