package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/rules"
)

// Authenticator finds the account of an API key, which a request has as Authorization: Bearer
// KEY. It is safe for concurrent use.
type Authenticator interface {
	// Authenticate returns the account that key belongs to, which is not "". An account may have
	// several keys, so that the idempotency keys of a client stay valid when its
	// API key changes. key is one or more visible ASCII characters.
	//
	// It refuses a key (unknown, expired) with a *petstore.Error of
	// petstore.CodeUnauthorized, whose message the client sees: 401. Any
	// other error means that the key could not be checked, and is logged: 503. If it
	// is a *petstore.Error of petstore.CodeUnavailable, the client sees its message,
	// and without Err it is not logged. None may contain the key.
	Authenticate(ctx context.Context, key string) (account string, err error)
}

// AuthenticatorFunc makes an [Authenticator] of a function.
type AuthenticatorFunc func(ctx context.Context, key string) (account string, err error)

// Authenticate calls f.
func (f AuthenticatorFunc) Authenticate(ctx context.Context, key string) (string, error) {
	return f(ctx, key)
}

// WithAccount returns a copy of ctx for a request that a middleware has authenticated, in
// any way. A handler of this package serves such a request for account, and does not look
// at its credential. With "" as the account, the handler checks the credential.
//
// To refuse a request, a middleware calls [WriteError] with an error of
// petstore.CodeUnauthorized, since the contract wants an Error body.
func WithAccount(ctx context.Context, account string) context.Context {
	return context.WithValue(ctx, accountKey{}, account)
}

// Account returns the account that the [Authenticator] or a middleware found for the
// request of ctx, or "" if there is none. The contexts that a handler passes to
// the service and to Options.Validate have it.
func Account(ctx context.Context) string {
	account, _ := ctx.Value(accountKey{}).(string)
	return account
}

type accountKey struct{}

var (
	errNoCredential = petstore.Errorf(petstore.CodeUnauthorized,
		"Authorization: an API key is required, as a bearer token in exactly one field")
	errBadCredential = petstore.Errorf(petstore.CodeUnauthorized,
		"Authorization: the bearer token is not a valid API key")

	// Without an Authenticator, a middleware must have set the account.
	errNoAccount = petstore.Errorf(petstore.CodeUnauthorized, "a credential is required")
)

// authenticate returns the account that a request acts for: the one of ctx if it has one
// ([WithAccount]), otherwise that of the credential in the header.
func (h *handler) authenticate(ctx context.Context, header http.Header) (account string, err error) {
	if account = Account(ctx); account != "" {
		return account, nil
	}
	if h.auth == nil {
		return "", errNoAccount
	}
	key := ""
	if fields := header["Authorization"]; len(fields) == 1 {
		key = bearerToken(fields[0])
	}
	if key == "" {
		return "", errNoCredential
	}
	if !rules.Visible(key) {
		return "", errBadCredential
	}
	account, err = h.auth.Authenticate(ctx, key)
	e, ok := errors.AsType[*petstore.Error](err)
	switch {
	case err == nil && account == "": // of a map without the key, say
		return "", errBadCredential
	case err == nil:
		return account, nil
	case ok && (e.Code == petstore.CodeUnauthorized || e.Code == petstore.CodeUnavailable):
		return "", err
	}
	return "", &petstore.Error{Code: petstore.CodeUnavailable, Message: "the credential cannot be checked now; try again later", Err: err}
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
