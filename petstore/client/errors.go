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

// ErrUnknownOutcome says that the server may have carried out a creation or
// submission: the connection was lost, the response was a 5xx or cannot be
// understood, or the context ended. The error of the call wraps it. If the server
// honours Idempotency-Key, it is safe to call the method again with the same
// [petstore.Once].
var ErrUnknownOutcome = errors.New("it is unknown whether the server carried out the request")

// ResponseError describes the response that is the reason for an error. The texts
// come from the server. Each is cut to at most 1 KiB.
type ResponseError struct {
	Method, URL string // of the request
	Status      int
	Code        string // in the Error body; "": there is none
	Message     string // in the Error body; "": there is none
	RequestID   string // the X-Request-ID; "": there is none
	Body        string // the beginning of the body
}

// Error returns the fields in one line: Code if there is one, otherwise the
// beginning of Body.
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

// failure says why a try failed, and whether to try again.
type failure struct {
	err     *petstore.Error
	status  int           // of the response; 0: there is none
	unknown bool          // the server may have carried out the creation or submission
	again   bool          // another try may succeed
	after   time.Duration // how long the server asks the client to wait before
}

// final returns the error for the caller. unknown says whether the server may have
// carried out any try.
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

// cancelled returns the error of a call whose context has ended. err is the error
// of the last try.
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

// unknownOutcome adds ErrUnknownOutcome to the cause of an error.
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
		e.Message = "the server redirects, and the client does not follow; use another base URL"
		if to, err := resp.Location(); err == nil {
			e.Message = c.text(fmt.Sprintf("the server redirects to %s, and the client does not follow; use the part before %s as the base URL", to.Redacted(), r.path))
		}
	case e.Message == "":
		e.Message = fmt.Sprintf("the server responded with %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	return e
}

// text returns s, which a server sent, in a form that is safe in errors: it hides
// the API key and cuts long texts.
func (c *Client) text(s string) string {
	const longest = 1 << 10
	s = strings.ReplaceAll(s, c.key, "[API key]")
	if len(s) > longest {
		s = strings.ToValidUTF8(s[:longest-3], "") + "..."
	}
	return s
}

// classes has the codes of Error bodies that codeOf uses. For each it has the first
// digit of the statuses that go with the code.
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

// codeOf returns the code for a response that is an error. The contract says what
// 400, 401 and 404 mean, and HTTP says what 408 and 429 mean. For any other status
// codeOf uses the code in the body if it is one of ours and goes with the status.
// Otherwise it uses the status.
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
