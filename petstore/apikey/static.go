package apikey

import "context"

// Static maps API keys to their accounts. It implements httpapi.Authenticator, for tests.
type Static map[string]string

// Authenticate returns the account of a key. The error for an unknown key has
// petstore.CodeUnauthorized.
func (s Static) Authenticate(_ context.Context, key string) (account string, err error) {
	if account, ok := s[key]; ok {
		return account, nil
	}
	return "", errUnknown
}
