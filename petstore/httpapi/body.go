package httpapi

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/rules"
)

// readRequest returns what the request of an operation with a body asks for. It checks the
// header fields that concern the body, then reads and decodes the body of at most limit bytes.
func readRequest[T any](r *http.Request, limit int64, account string, decode func([]byte) (T, error)) (
	value T, key petstore.IdempotencyKey, err error,
) {
	if err = checkContentType(r.Header); err != nil {
		return value, key, err
	}
	if key, err = idempotencyKey(r.Header, account); err != nil {
		return value, key, err
	}
	if r.ContentLength > limit {
		return value, key, errBodyTooLarge(limit)
	}
	// Without the ResponseWriter, so that the connection stays open.
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, limit))
	if err != nil {
		return value, key, bodyError(err, len(body))
	}
	value, err = decode(body)
	return value, key, err
}

// checkContentType returns the reason why a body cannot be read as JSON. Parameters of the
// media type mean nothing (RFC 8259, section 11): a body that is not UTF-8 is refused later.
func checkContentType(h http.Header) error {
	fields := h.Values("Content-Type")
	if len(fields) != 1 || fields[0] == "" {
		return invalid("Content-Type: must be given once, as application/json")
	}
	mediaType, _, _ := strings.Cut(fields[0], ";")
	if !strings.EqualFold(strings.Trim(mediaType, " \t"), "application/json") {
		return petstore.Errorf(petstore.CodeUnsupportedMediaType, "Content-Type: must be application/json")
	}
	for _, coding := range h.Values("Content-Encoding") {
		if coding != "" && !strings.EqualFold(coding, "identity") {
			return petstore.Errorf(petstore.CodeUnsupportedMediaType, "Content-Encoding: none is supported")
		}
	}
	return nil
}

// maxKeyBytes is the maximum length of an idempotency key. 255 characters fit, also quoted
// and escaped.
const maxKeyBytes = 512

// idempotencyKey returns the key of the request's Idempotency-Key field, as it was sent. Its
// scope is the account, so that the keys of different accounts are different. The draft
// (draft-ietf-httpapi-idempotency-key-header) requires a quoted string, and many clients
// send the bare key: a client that repeats a request sends the same.
func idempotencyKey(h http.Header, account string) (petstore.IdempotencyKey, error) {
	fields := h.Values("Idempotency-Key")
	if len(fields) == 0 {
		return petstore.IdempotencyKey{}, nil
	}
	key := fields[0]
	empty := strings.Trim(key, `"`) == ""
	if len(fields) > 1 || empty || len(key) > maxKeyBytes || !rules.Printable(key) {
		return petstore.IdempotencyKey{}, invalid(
			"Idempotency-Key: must be given once, with 1 to %d characters of printable ASCII", maxKeyBytes)
	}
	return petstore.IdempotencyKey{Scope: account, Key: key}, nil
}

func errBodyTooLarge(limit int64) error {
	return petstore.Errorf(petstore.CodeBodyTooLarge, "body: must have at most %d bytes", limit)
}

// bodyError returns the error for a body of which only so many bytes could be
// read.
func bodyError(err error, read int) error {
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok { // middleware may set a lower limit
		return errBodyTooLarge(e.Limit)
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return petstore.Errorf(petstore.CodeRequestTimeout, "body: did not arrive in time")
	}
	return invalid("body: broke off, or was malformed, after %d bytes", read)
}
