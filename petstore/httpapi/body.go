package httpapi

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"

	"example.com/animalstore/petstore"
)

// readRequest returns what the request of an operation with a body asks for.
// It checks the header fields that concern the body, then reads and decodes the
// body.
func readRequest[T any](x *exchange, decode func([]byte) (T, error)) (value T, once petstore.Once, err error) {
	if err := checkContentType(x.r.Header); err != nil {
		return value, once, err
	}
	if once, err = x.once(); err != nil {
		return value, once, err
	}
	body, err := x.readBody()
	if err != nil {
		return value, once, err
	}
	value, err = decode(body)
	return value, once, err
}

// checkContentType returns the reason why a body cannot be read as JSON.
func checkContentType(h http.Header) error {
	fields := h.Values("Content-Type")
	switch {
	case len(fields) == 0 || len(fields) == 1 && fields[0] == "":
		return invalid("Content-Type", errors.New("is missing; must be application/json"))
	case len(fields) > 1:
		return invalid("Content-Type", fmt.Errorf("must be given once, not %d times", len(fields)))
	}
	mediaType, params, err := mime.ParseMediaType(fields[0])
	charset, hasCharset := params["charset"]
	switch {
	case err != nil:
		return petstore.Errorf(petstore.CodeUnsupportedMediaType, "Content-Type: malformed; must be application/json")
	case mediaType != "application/json":
		return petstore.Errorf(petstore.CodeUnsupportedMediaType, "Content-Type: must be application/json")
	case hasCharset && !strings.EqualFold(charset, "utf-8"):
		return petstore.Errorf(petstore.CodeUnsupportedMediaType, "Content-Type: the charset must be utf-8")
	}
	for _, coding := range h.Values("Content-Encoding") {
		if coding != "" && !strings.EqualFold(coding, "identity") {
			return petstore.Errorf(petstore.CodeUnsupportedMediaType, "Content-Encoding: none is supported")
		}
	}
	return nil
}

// readBody returns the request's body.
func (x *exchange) readBody() ([]byte, error) {
	limit := x.h.opts.MaxBodyBytes
	if x.r.ContentLength > limit {
		return nil, errBodyTooLarge(limit)
	}
	if x.r.Body == nil { // only when the caller is not an http.Server
		return nil, nil
	}
	// Without the ResponseWriter, so that the connection stays open.
	body, err := io.ReadAll(http.MaxBytesReader(nil, x.r.Body, limit))
	if err != nil {
		return nil, bodyError(err, len(body))
	}
	return body, nil
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
		return &petstore.Error{Code: petstore.CodeRequestTimeout, Message: "body: did not arrive in time", Err: err}
	}
	e := petstore.Errorf(petstore.CodeInvalid, "body: broke off, or was malformed, after %d bytes", read)
	e.Err = err
	return e
}

// DiscardBody reads what is left of the body of a request that has its response,
// so that the response reaches a client or a proxy that is still sending.
// Otherwise net/http may close the connection, and the response is lost in the
// reset: with the defaults of nginx, one in four refused bodies of 60 kB was a
// 502. The rest of a body above 1 MiB, which nginx refuses by default, stays
// unread, and so does the body of a client that may be waiting for the response
// before it sends any.
//
// The handlers of this package and [WriteError] do this by themselves. Any other
// handler that writes a response without having read the body can call it last.
func DiscardBody(r *http.Request) {
	const limit = 1 << 20
	if r.ContentLength != 0 && r.Body != nil && r.ContentLength <= limit && r.Header["Expect"] == nil {
		_, _ = io.CopyN(io.Discard, r.Body, limit)
	}
}
