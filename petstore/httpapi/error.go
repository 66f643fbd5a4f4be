package httpapi

import (
	"errors"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/petstore"
)

// The codes of Error bodies that only HTTP has, in addition to those of
// package petstore. A caller of [WriteError] may use them.
const (
	CodeMethodNotAllowed     petstore.Code = "method_not_allowed"     // 405; set the Allow header field first
	CodeRequestTimeout       petstore.Code = "request_timeout"        // 408: the body did not arrive in time
	CodeGone                 petstore.Code = "gone"                   // 410
	CodeBodyTooLarge         petstore.Code = "body_too_large"         // 413
	CodeUnsupportedMediaType petstore.Code = "unsupported_media_type" // 415
)

// retryAfter is the Retry-After field of a 503, in seconds. The handler does
// not know when the cause ends (a worker empties the queue, a restart).
const retryAfter = "1"

var errNoPath = petstore.Errorf(petstore.CodeNotFound, "path: there is nothing here")

// invalid returns the error for a member, parameter or header field whose fault
// is err.
func invalid(what string, err error) error {
	return petstore.Errorf(petstore.CodeInvalid, "%s: %v", what, err)
}

// outcome is an error as the client sees it: the Error body (contract, section
// 2.5).
type outcome struct {
	Code    petstore.Code `json:"code"`
	Message string        `json:"message"`
	Status  int           `json:"status"`
}

// outcomes is the one place where codes become HTTP. The messages are for
// errors that have none.
var outcomes = map[petstore.Code]outcome{
	petstore.CodeInvalid:      {Status: http.StatusBadRequest, Message: "the request is invalid"},
	petstore.CodeUnauthorized: {Status: http.StatusUnauthorized, Message: errBadCredential.Message},
	petstore.CodeNotFound:     {Status: http.StatusNotFound, Message: "not found"},
	petstore.CodeConflict:     {Status: http.StatusConflict, Message: "an earlier request with this Idempotency-Key is still under way"},
	petstore.CodeMismatch:     {Status: http.StatusUnprocessableEntity, Message: "the Idempotency-Key was used with another body"},
	petstore.CodeFull:         {Status: http.StatusInsufficientStorage, Message: "there is no room left to store this"},
	petstore.CodeUnavailable:  {Status: http.StatusServiceUnavailable, Message: "this cannot be done now; try again later"},
	CodeMethodNotAllowed:      {Status: http.StatusMethodNotAllowed, Message: "the method is not allowed"},
	CodeRequestTimeout:        {Status: http.StatusRequestTimeout, Message: "the request did not arrive in time"},
	CodeGone:                  {Status: http.StatusGone, Message: "this is no longer there"},
	CodeBodyTooLarge:          {Status: http.StatusRequestEntityTooLarge, Message: "body: too large"},
	CodeUnsupportedMediaType:  {Status: http.StatusUnsupportedMediaType, Message: "Content-Type: must be application/json"},
}

func outcomeOf(err error) outcome {
	code := petstore.CodeOf(err)
	o, ok := outcomes[code]
	if !ok { // CodeInternal, and codes that are not in the set
		return outcome{petstore.CodeInternal, "internal error", http.StatusInternalServerError}
	}
	o.Code = code
	if e, ok := errors.AsType[*petstore.Error](err); ok && e.Message != "" {
		o.Message = e.Message
	}
	return o
}

// WriteError responds to r with err, as the handlers of this package do: an
// Error body (none for HEAD), Content-Length, X-Request-ID, and the header
// fields that the status requires (WWW-Authenticate with 401, Retry-After with
// 503). The code of err decides the status. An error without a code is a 500,
// and its text is not sent. WriteError logs nothing. At its end it calls
// [DiscardBody] with [DefaultMaxBodyBytes].
func WriteError(w http.ResponseWriter, r *http.Request, err error) {
	requestID(w, r)
	writeResponse(w, r, errorResponse(w, r, outcomeOf(err)))
	DiscardBody(w, r, DefaultMaxBodyBytes)
}

// errorResponse returns the response for o, and sets the header fields that
// only its status has.
func errorResponse(w http.ResponseWriter, r *http.Request, o outcome) response {
	switch o.Status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", challenge(r.Header.Values("Authorization")))
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", retryAfter)
	}
	body, _ := json.Marshal(o, jsontext.AllowInvalidUTF8(true)) // cannot fail then
	return response{o.Status, body}
}
