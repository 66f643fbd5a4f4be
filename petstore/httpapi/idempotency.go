package httpapi

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"example.com/animalstore/petstore"
)

// acceptsKeysField says in every response that creations with an Idempotency-Key may
// be repeated. A client can believe that of a server that it knows nothing else about.
// The value is true, as a Boolean of RFC 9651.
const acceptsKeysField = "Accept-Idempotency-Key"

// acceptsKeys is shared by all responses, which saves an allocation for each.
var acceptsKeys = []string{"?1"}

// maxKeyBytes is the maximum length of an idempotency key.
const maxKeyBytes = 255

// once returns the [petstore.Once] of the request's Idempotency-Key. Its scope
// is the principal, so that the keys of different accounts are different.
func (x *exchange) once() (petstore.Once, error) {
	fields := x.r.Header.Values("Idempotency-Key")
	switch {
	case len(fields) == 0:
		return petstore.Once{}, nil
	case len(fields) > 1:
		return petstore.Once{}, invalid("Idempotency-Key", fmt.Errorf("must be given once, not %d times", len(fields)))
	}
	key, err := parseIdempotencyKey(fields[0])
	if err != nil {
		return petstore.Once{}, invalid("Idempotency-Key", err)
	}
	return petstore.Once{Scope: x.seen.Principal, Key: key}, nil
}

var (
	// quotedKey matches a String of RFC 9651, section 3.3.3: printable ASCII in
	// quotes, with a backslash before a quote and before a backslash.
	quotedKey   = regexp.MustCompile(`^"([ !#-\[\]-~]|\\["\\])*"$`)
	unescapeKey = strings.NewReplacer(`\"`, `"`, `\\`, `\`)
)

// parseIdempotencyKey returns the key in the field's value. The draft
// (draft-ietf-httpapi-idempotency-key-header) requires a quoted string; the many
// clients that send the bare key mean the same.
func parseIdempotencyKey(field string) (key string, err error) {
	key = field
	if strings.HasPrefix(field, `"`) {
		if !quotedKey.MatchString(field) {
			return "", errors.New(`a quoted string must end with its quote, and be printable ASCII with \ before " and before \`)
		}
		key = unescapeKey.Replace(field[1 : len(field)-1])
	} else if !visibleASCII(field) {
		return "", errors.New("must be visible ASCII characters, or a quoted string")
	}
	if len(key) < 1 || len(key) > maxKeyBytes {
		return "", fmt.Errorf("must have 1 to %d characters", maxKeyBytes)
	}
	return key, nil
}
