package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"

	"example.com/animalstore/petstore"
)

// submit carries out an operation that takes a body, up to its result: it
// checks the header fields that concern the body, reads and decodes it, and
// calls the operation.
func submit[In, Out any](x *exchange,
	decode func([]byte) (In, error),
	call func(context.Context, In, petstore.Once) (Out, error),
) (out Out, err error) {
	if err := checkContentType(x.r.Header); err != nil {
		return out, err
	}
	once, err := x.once()
	if err != nil {
		return out, err
	}
	if err := x.readBody(); err != nil {
		return out, err
	}
	in, err := decode(x.buf)
	if err != nil {
		return out, err
	}
	// The response repeats the body. It can only be refused before anything is
	// stored.
	if err := x.reserve(x.buf); err != nil {
		return out, err
	}
	return call(x.ctx, in, once)
}

// checkContentType reports why a body cannot be read as JSON.
func checkContentType(h http.Header) error {
	fields := h["Content-Type"]
	switch {
	case len(fields) == 0 || len(fields) == 1 && fields[0] == "":
		return invalid("Content-Type", errors.New("is missing; must be application/json"))
	case len(fields) > 1:
		return invalid("Content-Type", fmt.Errorf("must be given once, not %d times", len(fields)))
	}
	if fields[0] != "application/json" { // all but a few clients send just this
		mediaType, params, err := mime.ParseMediaType(fields[0])
		charset, hasCharset := params["charset"]
		switch {
		case err != nil:
			return petstore.Errorf(CodeUnsupportedMediaType, "Content-Type: malformed; must be application/json")
		case mediaType != "application/json":
			return petstore.Errorf(CodeUnsupportedMediaType, "Content-Type: must be application/json")
		case hasCharset && !strings.EqualFold(charset, "utf-8"):
			return petstore.Errorf(CodeUnsupportedMediaType, "Content-Type: the charset must be utf-8")
		}
	}
	for _, coding := range h["Content-Encoding"] {
		if coding != "" && !strings.EqualFold(coding, "identity") {
			return petstore.Errorf(CodeUnsupportedMediaType, "Content-Encoding: none is supported")
		}
	}
	return nil
}

// readBody reads the request's body into x.buf.
func (x *exchange) readBody() error {
	limit := x.h.opts.MaxBodyBytes
	if x.r.ContentLength > limit {
		return errBodyTooLarge(limit)
	}
	if x.r.Body == nil { // only when the caller is no http.Server
		return nil
	}
	// A length that was only announced is not yet worth that much memory.
	announced := min(max(x.r.ContentLength, 0), maxPooledBytes-1)
	b := slices.Grow(x.buf[:0], int(announced)+1)
	for {
		n, err := x.r.Body.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		x.buf = b
		switch {
		case int64(len(b)) > limit:
			return errBodyTooLarge(limit)
		case err == io.EOF:
			x.r.Body = http.NoBody // nothing is left for DiscardBody
			return nil
		case err != nil:
			return bodyError(err, len(b))
		}
		if len(b) == cap(b) {
			b = slices.Grow(b, 512)
		}
	}
}

func errBodyTooLarge(limit int64) error {
	return petstore.Errorf(CodeBodyTooLarge, "body: must have at most %d bytes", limit)
}

// bodyError returns what to say of a body that could not be read to its end.
func bodyError(err error, read int) error {
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok { // a limit of middleware's
		return errBodyTooLarge(e.Limit)
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return &petstore.Error{Code: CodeRequestTimeout, Message: "body: did not come in time", Err: err}
	}
	e := petstore.Errorf(petstore.CodeInvalid, "body: broke off, or was malformed, after %d bytes", read)
	e.Err = err
	return e
}
