package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore"
)

// ErrUnknownOutcome is in the tree of the error of a create or submit that the
// server may have carried out: the connection was lost, the response was a 5xx
// or cannot be understood, or the context ended. To call the method again with
// the same [petstore.Once] is safe on a server that honours Idempotency-Key.
var ErrUnknownOutcome = errors.New("it is unknown whether the server carried out the request")

// ResponseError is the cause of an error that a response is the reason for. Its
// texts are the server's, cut to at most 1 KiB each.
type ResponseError struct {
	Method, URL string // of the request
	Status      int
	Code        string // of the Error body; "": it has none
	Message     string // of the Error body; "": it has none
	RequestID   string // the X-Request-ID; "": there is none
	Body        string // its beginning
}

// Error returns the fields in one line: the code if there is one, otherwise the
// beginning of the body.
func (e *ResponseError) Error() string {
	s := fmt.Sprintf("%s %s: %d %s", e.Method, e.URL, e.Status, http.StatusText(e.Status))
	if e.RequestID != "" {
		s += fmt.Sprintf(", X-Request-ID %q", e.RequestID)
	}
	if e.Code != "" {
		return s + fmt.Sprintf(", code %q", e.Code)
	}
	return s + fmt.Sprintf(", body %.200q", e.Body)
}

// failure is why a try failed.
type failure struct {
	err     *petstore.Error
	status  int           // of the response; 0: there is none
	unknown bool          // it is a create or submit that may have been carried out
	again   bool          // another try may succeed
	after   time.Duration // what the server asks to wait first
}

// final returns the error for the caller. unknown is whether any try may have
// been carried out.
func (f *failure) final(unknown bool) error {
	if !unknown {
		return f.err
	}
	return &petstore.Error{
		Code:    f.err.Code,
		Message: f.err.Message + "; " + ErrUnknownOutcome.Error(),
		Err:     unknownOutcome{f.err.Err},
	}
}

// cancelled returns the error of a call whose context has ended. err is what
// happened before.
func cancelled(ctx context.Context, err error) *petstore.Error {
	e := &petstore.Error{Code: petstore.CodeUnavailable, Message: "the call was cancelled", Err: err}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e.Message = "the call did not end before its deadline"
	}
	if !errors.Is(err, ctx.Err()) {
		e.Err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return e
}

// unknownOutcome is a cause that is ErrUnknownOutcome too.
type unknownOutcome struct{ error }

func (e unknownOutcome) Is(target error) bool { return target == ErrUnknownOutcome }
func (e unknownOutcome) Unwrap() error        { return e.error }

// broken returns the failure of a response that breaks the contract.
func (c *Client) broken(r *request, resp *response, err error) *failure {
	e := c.responseError(r, resp)
	e.Code = petstore.CodeInternal
	e.Message = c.text("the response breaks the contract: " + err.Error())
	return &failure{err: e, unknown: r.body != nil}
}

// responseError returns the error for a response.
func (c *Client) responseError(r *request, resp *response) *petstore.Error {
	var body struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	if json.Unmarshal(resp.body, &body) != nil {
		body.Code, body.Message = "", ""
	}
	cause := &ResponseError{
		Method: r.method(), URL: r.url(), Status: resp.StatusCode,
		Code: c.text(body.Code), Message: c.text(body.Message),
		RequestID: c.text(resp.Header.Get("X-Request-ID")), Body: c.text(string(resp.body)),
	}
	e := &petstore.Error{Code: codeOf(resp.StatusCode, petstore.Code(body.Code)), Message: cause.Message, Err: cause}
	switch {
	case resp.StatusCode/100 == 3:
		e.Message = "the server redirects, which is not followed; the base URL must be another"
		if to, err := resp.Location(); err == nil {
			e.Message = c.text(fmt.Sprintf("the server redirects to %s, which is not followed; use the part before %s as base URL", to.Redacted(), r.path))
		}
	case e.Message == "":
		e.Message = fmt.Sprintf("the server responded with %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	return e
}

// text returns what a server sent as an error may contain it: without the API
// key, and cut.
func (c *Client) text(s string) string {
	const longest = 1 << 10
	s = strings.ReplaceAll(s, c.key, "[API key]")
	if len(s) > longest {
		s = strings.ToValidUTF8(s[:longest-3], "") + "..."
	}
	return s
}

// classes has, for each code of an Error body that is used, the first digit of
// the status that goes with it.
var classes = map[petstore.Code]int{
	petstore.CodeInvalid:      4,
	petstore.CodeUnauthorized: 4,
	petstore.CodeNotFound:     4,
	petstore.CodeConflict:     4,
	petstore.CodeMismatch:     4,
	petstore.CodeFull:         5,
	petstore.CodeUnavailable:  5,
	petstore.CodeInternal:     5,
}

// codeOf returns the code for a response that is an error. The contract says
// what 400, 401 and 404 mean. For any other status the code in the body counts,
// if it is one of ours and goes with the status; otherwise the status.
func codeOf(status int, body petstore.Code) petstore.Code {
	switch status {
	case http.StatusBadRequest:
		return petstore.CodeInvalid
	case http.StatusUnauthorized:
		return petstore.CodeUnauthorized
	case http.StatusNotFound:
		return petstore.CodeNotFound
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return petstore.CodeUnavailable
	}
	if classes[body] == status/100 {
		return body
	}
	switch status {
	case http.StatusForbidden:
		return petstore.CodeUnauthorized
	case http.StatusGone:
		return petstore.CodeNotFound
	case http.StatusConflict:
		return petstore.CodeConflict
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return petstore.CodeUnavailable
	case http.StatusInsufficientStorage:
		return petstore.CodeFull
	}
	if status/100 == 4 {
		return petstore.CodeInvalid
	}
	return petstore.CodeInternal
}
