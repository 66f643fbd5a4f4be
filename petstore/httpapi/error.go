package httpapi

import (
	"errors"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/internal/request"
	"example.com/animalstore/petstore"
)

func invalid(format string, args ...any) error {
	return petstore.Errorf(petstore.CodeInvalid, format, args...)
}

// errorBody is an Error (contract, section 2.5).
type errorBody struct {
	Code    petstore.Code `json:"code"`
	Message string        `json:"message"`
	Status  int           `json:"status"`
}

// statuses is the one place where codes become HTTP.
var statuses = map[petstore.Code]int{
	petstore.CodeInvalid:              http.StatusBadRequest,
	petstore.CodeUnauthorized:         http.StatusUnauthorized,
	petstore.CodeNotFound:             http.StatusNotFound,
	petstore.CodeMethodNotAllowed:     http.StatusMethodNotAllowed,
	petstore.CodeRequestTimeout:       http.StatusRequestTimeout,
	petstore.CodeConflict:             http.StatusConflict,
	petstore.CodeBodyTooLarge:         http.StatusRequestEntityTooLarge,
	petstore.CodeUnsupportedMediaType: http.StatusUnsupportedMediaType,
	petstore.CodeIdempotencyMismatch:  http.StatusUnprocessableEntity,
	petstore.CodeUnavailable:          http.StatusServiceUnavailable,
	petstore.CodeInsufficientStorage:  http.StatusInsufficientStorage,
}

func errorBodyOf(err error) errorBody {
	code := petstore.CodeOf(err)
	status, ok := statuses[code]
	if !ok { // CodeInternal, and codes that are not in the set
		return errorBody{petstore.CodeInternal, "internal error", http.StatusInternalServerError}
	}
	if e, ok := errors.AsType[*petstore.Error](err); ok && e.Message != "" {
		return errorBody{code, e.Message, status}
	}
	return errorBody{code, http.StatusText(status), status}
}

// WriteError responds to r with err, as the handlers of this package do: an
// Error body (none for HEAD), Content-Length, X-Request-ID, and the header
// fields that the status requires (WWW-Authenticate with 401, Retry-After with
// 503). For a 405, set the Allow header field first. The code of err decides the
// status. An error without a code is a 500 (a context's: 503), and its text is not sent.
// nil is a 500. WriteError logs nothing. Like the handlers, it then discards the rest of
// a body of at most 1 MiB.
func WriteError(w http.ResponseWriter, r *http.Request, err error) {
	c := call{w: w, r: r}
	c.id, c.random = requestID(w, r)
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
		w.Header().Set("Retry-After", "1") // the cause may end at any time
	}
	b, _ := json.Marshal(body, jsontext.AllowInvalidUTF8(true)) // cannot fail then
	return response{status: body.Status, body: b}
}
