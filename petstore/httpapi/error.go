package httpapi

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/petstore"
)

// The codes of Error bodies that only HTTP has, beside those of package
// petstore. A caller of [WriteError] may use them.
const (
	CodeMethodNotAllowed     petstore.Code = "method_not_allowed"     // 405; set the Allow header field first
	CodeRequestTimeout       petstore.Code = "request_timeout"        // 408: the body did not come in time
	CodeGone                 petstore.Code = "gone"                   // 410
	CodeBodyTooLarge         petstore.Code = "body_too_large"         // 413
	CodeUnsupportedMediaType petstore.Code = "unsupported_media_type" // 415
)

// retryAfter is the Retry-After field of a 503, in seconds. What ends the
// trouble (a worker that empties the queue, a restart) is not ours to know.
const retryAfter = "1"

var (
	errNoPath = &petstore.Error{
		Code:    petstore.CodeNotFound,
		Message: "path: there is nothing here",
	}
	errPanic = &petstore.Error{Code: petstore.CodeInternal}
)

// invalid returns the error for what, a member, parameter or header field,
// that err is wrong with.
func invalid(what string, err error) error {
	return petstore.Errorf(petstore.CodeInvalid, "%s: %v", what, err)
}

// outcome is what a client is told about an error.
type outcome struct {
	status  int
	code    petstore.Code
	message string
}

// outcomeOf is the one place where codes become HTTP. The messages here stand
// in for errors that have none.
func outcomeOf(err error) outcome {
	o := outcome{code: petstore.CodeOf(err)}
	switch o.code {
	case petstore.CodeInvalid:
		o.status, o.message = http.StatusBadRequest, "the request is invalid"
	case petstore.CodeUnauthorized:
		o.status, o.message = http.StatusUnauthorized, errBadCredential.Message
	case petstore.CodeNotFound:
		o.status, o.message = http.StatusNotFound, "not found"
	case petstore.CodeConflict:
		o.status, o.message = http.StatusConflict, "an earlier request with this Idempotency-Key is still under way"
	case petstore.CodeMismatch:
		o.status, o.message = http.StatusUnprocessableEntity, "the Idempotency-Key was used with another body"
	case petstore.CodeFull:
		o.status, o.message = http.StatusInsufficientStorage, "there is no room left to store this"
	case petstore.CodeUnavailable:
		o.status, o.message = http.StatusServiceUnavailable, "this cannot be done now; try again later"
	case CodeMethodNotAllowed:
		o.status, o.message = http.StatusMethodNotAllowed, "the method is not allowed"
	case CodeRequestTimeout:
		o.status, o.message = http.StatusRequestTimeout, "the request did not come in time"
	case CodeGone:
		o.status, o.message = http.StatusGone, "this is no longer there"
	case CodeBodyTooLarge:
		o.status, o.message = http.StatusRequestEntityTooLarge, "body: too large"
	case CodeUnsupportedMediaType:
		o.status, o.message = http.StatusUnsupportedMediaType, "Content-Type: must be application/json"
	default: // CodeInternal, and codes that are not in the set
		return outcome{http.StatusInternalServerError, petstore.CodeInternal, "internal error"}
	}
	if e, ok := errors.AsType[*petstore.Error](err); ok && e.Message != "" {
		o.message = e.Message
	}
	return o
}

// WriteError responds to r with err, in the form and with the header fields of
// all errors: an Error body (none for HEAD), Content-Length, X-Request-ID, and
// what the status asks for (WWW-Authenticate with 401, Retry-After with 503).
// The code of err gives the status; an error without one is 500 and its text
// is not sent. WriteError logs nothing. Last, it calls [DiscardBody] with
// [DefaultMaxBodyBytes].
func WriteError(w http.ResponseWriter, r *http.Request, err error) {
	requestID(w, r)
	writeError(w, r, outcomeOf(err))
	DiscardBody(w, r, DefaultMaxBodyBytes)
}

// writeError returns the number of body bytes written.
func writeError(w http.ResponseWriter, r *http.Request, o outcome) int {
	h := w.Header()
	switch o.status {
	case http.StatusUnauthorized:
		h["Www-Authenticate"] = challenge(r.Header["Authorization"])
	case http.StatusServiceUnavailable:
		h["Retry-After"] = []string{retryAfter}
	}
	b := append(make([]byte, 0, 256), `{"code":`...)
	b, _ = jsontext.AppendQuote(b, string(o.code))
	b = append(b, `,"message":`...)
	b, _ = jsontext.AppendQuote(b, o.message) // an error only says that it mended bad UTF-8
	b = append(b, `,"status":`...)
	b = strconv.AppendInt(b, int64(o.status), 10)
	b = append(b, '}')
	return writeJSON(w, r, o.status, b)
}

// writeJSON sends a whole response. net/http sets Content-Length by itself for
// small bodies only, and for HEAD never.
func writeJSON(w http.ResponseWriter, r *http.Request, status int, body []byte) int {
	h := w.Header()
	values := &[2]string{"application/json", strconv.Itoa(len(body))} // one allocation for both
	h["Content-Type"] = values[0:1:1]
	h["Content-Length"] = values[1:2:2]
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return 0
	}
	return writeBody(w, r, body)
}
