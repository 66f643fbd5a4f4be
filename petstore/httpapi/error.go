package httpapi

import (
	"errors"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/internal/request"
	"example.com/animalstore/petstore"
)

// retryAfter is the Retry-After field of a 503, in seconds. The handler does
// not know when the cause ends (a worker empties the queue, a restart).
const retryAfter = "1"

func invalid(format string, args ...any) error {
	return petstore.Errorf(petstore.CodeInvalid, format, args...)
}

// errorBody is an Error (contract, section 2.5).
type errorBody struct {
	Code    petstore.Code `json:"code"`
	Message string        `json:"message"`
	Status  int           `json:"status"`
}

// errorBodies is the one place where codes become HTTP. The messages are for
// errors that have none.
var errorBodies = map[petstore.Code]errorBody{
	petstore.CodeInvalid:              {Status: http.StatusBadRequest, Message: "the request is invalid"},
	petstore.CodeUnauthorized:         {Status: http.StatusUnauthorized, Message: errBadCredential.Message},
	petstore.CodeNotFound:             {Status: http.StatusNotFound, Message: "not found"},
	petstore.CodeMethodNotAllowed:     {Status: http.StatusMethodNotAllowed, Message: "the method is not allowed"},
	petstore.CodeRequestTimeout:       {Status: http.StatusRequestTimeout, Message: "the request did not arrive in time"},
	petstore.CodeConflict:             {Status: http.StatusConflict, Message: "an earlier request with this Idempotency-Key is still under way"},
	petstore.CodeBodyTooLarge:         {Status: http.StatusRequestEntityTooLarge, Message: "body: too large"},
	petstore.CodeUnsupportedMediaType: {Status: http.StatusUnsupportedMediaType, Message: "Content-Type: must be application/json"},
	petstore.CodeIdempotencyMismatch:  {Status: http.StatusUnprocessableEntity, Message: "the Idempotency-Key was used with another body"},
	petstore.CodeUnavailable:          {Status: http.StatusServiceUnavailable, Message: "this cannot be done now; try again later"},
	petstore.CodeInsufficientStorage:  {Status: http.StatusInsufficientStorage, Message: "there is no room left to store this"},
}

func errorBodyOf(err error) errorBody {
	code := petstore.CodeOf(err)
	body, ok := errorBodies[code]
	if !ok { // CodeInternal, and codes that are not in the set
		return errorBody{petstore.CodeInternal, "internal error", http.StatusInternalServerError}
	}
	body.Code = code
	if e, ok := errors.AsType[*petstore.Error](err); ok && e.Message != "" {
		body.Message = e.Message
	}
	return body
}

// WriteError responds to r with err, as the handlers of this package do: an
// Error body (none for HEAD), Content-Length, X-Request-ID, and the header
// fields that the status requires (WWW-Authenticate with 401, Retry-After with
// 503). For a 405, set the Allow header field first. The code of err decides the
// status. An error without a code is a 500 (a context's: 503), and its text is not sent.
// nil is a 500. WriteError logs nothing. Like the handlers, it then discards the rest of
// a body of at most 1 MiB.
func WriteError(w http.ResponseWriter, r *http.Request, err error) {
	c := call{w: w, r: r, id: newRequestID(w, r)}
	c.send(errorResponse(w, errorBodyOf(err)))
	request.Discard(r)
}

// errorResponse returns the response with body, and sets the header fields that
// only its status has.
func errorResponse(w http.ResponseWriter, body errorBody) response {
	switch body.Status {
	case http.StatusUnauthorized:
		if w.Header().Get("WWW-Authenticate") == "" { // a middleware may ask for another scheme
			w.Header().Set("WWW-Authenticate", `Bearer realm="petstore"`)
		}
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", retryAfter)
	}
	b, _ := json.Marshal(body, jsontext.AllowInvalidUTF8(true)) // cannot fail then
	return response{status: body.Status, body: b}
}
