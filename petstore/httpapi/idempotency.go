package httpapi

import (
	"errors"
	"fmt"
	"strings"

	"example.com/animalstore/petstore"
)

// maxKeyBytes is the maximum length of an idempotency key.
const maxKeyBytes = 255

// once returns the [petstore.Once] of the request's Idempotency-Key. Its scope
// is the principal, so that the keys of different accounts never meet.
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
	return petstore.Once{Scope: x.principal, Key: key}, nil
}

// parseIdempotencyKey returns the key in the field's value. The draft
// (draft-ietf-httpapi-idempotency-key-header) requires a String of RFC 9651,
// section 3.3.3, in its quotes; the many clients that send the bare key mean the
// same.
func parseIdempotencyKey(field string) (key string, err error) {
	key = field
	if strings.HasPrefix(field, `"`) {
		if key, err = unquote(field); err != nil {
			return "", err
		}
	} else if !visibleASCII(field) {
		return "", errors.New("must be visible ASCII characters, or a quoted string")
	}
	if len(key) < 1 || len(key) > maxKeyBytes {
		return "", fmt.Errorf("must have 1 to %d characters", maxKeyBytes)
	}
	return key, nil
}

var errUnclosed = errors.New("must end with the closing quote")

// unquote returns the value of a structured field's String: printable ASCII,
// with a backslash before a quote and before a backslash.
func unquote(s string) (string, error) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"' && i == len(s)-1:
			return b.String(), nil
		case c == '"':
			return "", errUnclosed
		case c == '\\':
			i++
			if i == len(s) || s[i] != '"' && s[i] != '\\' {
				return "", errors.New("a backslash must be followed by a quote or a backslash")
			}
			c = s[i]
		case c < ' ' || c > '~':
			return "", errors.New("must be printable ASCII characters")
		}
		b.WriteByte(c)
	}
	return "", errUnclosed
}
