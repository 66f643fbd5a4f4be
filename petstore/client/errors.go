package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore"
)

// ErrUnknownOutcome says that the server may have carried out a creation or submission. In
// one of the attempts
//   - the request may have been sent, and no complete response came,
//   - or the response breaks the contract or was a 5xx (but 507), a redirect, or a 409 with
//     the code conflict.
//
// The error of the call wraps it.
//
// If the server honours Idempotency-Key, Options.RetryWrites makes the client repeat the
// request, and it is safe to call the method again with the same
// [petstore.IdempotencyKey], if that has a Key. So choose a Key for a creation that your
// program may have to repeat, and store it before the call. Without a Key, each call is
// another creation.
var ErrUnknownOutcome = errors.New("the server may have carried out the request")

// ResponseError describes the response that is the reason for an error. The texts
// after Status come from the server. Each is cut to at most 1 KiB, and the API key is
// removed where it stands as it is, not in escaped forms.
//
//	if e, ok := errors.AsType[*client.ResponseError](err); ok {
//		log.Print(e.Status, e.Code, e.RequestID)
//	}
type ResponseError struct {
	URL       string // of the request
	Status    int
	Code      string // in the Error body; "": there is none
	Message   string // in the Error body; "": there is none
	RequestID string // the X-Request-ID; "": there is none
	Body      string // the beginning of the body
}

// Error returns the fields in one line: Code if there is one, otherwise the
// beginning of Body.
func (e *ResponseError) Error() string {
	s := fmt.Sprintf("%s: %d %s", e.URL, e.Status, http.StatusText(e.Status))
	if e.RequestID != "" {
		s += fmt.Sprintf(", X-Request-ID %q", e.RequestID)
	}
	if e.Code != "" {
		return s + fmt.Sprintf(", code %q", e.Code)
	}
	return s + fmt.Sprintf(", body %.200q", e.Body)
}

// failure says why an attempt failed.
type failure struct {
	kind    kind
	err     *petstore.Error
	after   time.Duration // how long the server asks the client to wait before the next attempt
	unknown bool          // the server may have carried out a creation or submission, in this attempt or an earlier one
}

// kind says whether the server carried out a request that failed, and whether to repeat
// it.
type kind int

const (
	refused kind = iota // it did not, and will not
	notDone             // it did not, and may if the request is repeated
	lost                // it may have, and may respond with success if the request is repeated
	wrong               // it may have, and will not respond with success; the last kind
)

// statuses says what each status means, by the contract (401, 404) and by HTTP (the others).
var statuses = map[int]struct {
	code petstore.Code
	kind kind
}{
	http.StatusUnauthorized: {petstore.CodeUnauthorized, refused},
	http.StatusForbidden:    {petstore.CodeUnauthorized, refused},
	http.StatusNotFound:     {petstore.CodeNotFound, refused},
	http.StatusGone:         {petstore.CodeNotFound, refused},

	http.StatusRequestTimeout:  {petstore.CodeUnavailable, notDone},
	http.StatusTooManyRequests: {petstore.CodeUnavailable, notDone},

	http.StatusInternalServerError: {petstore.CodeInternal, lost},
	http.StatusBadGateway:          {petstore.CodeUnavailable, lost},
	http.StatusServiceUnavailable:  {petstore.CodeUnavailable, lost},
	http.StatusGatewayTimeout:      {petstore.CodeUnavailable, lost},

	http.StatusInsufficientStorage: {petstore.CodeInsufficientStorage, refused},
}

// classify returns what a response whose status is not 2xx means. 409 and 422 have
// several meanings, and the code in the body says which.
func classify(status int, body petstore.Code) (petstore.Code, kind) {
	if s, ok := statuses[status]; ok {
		return s.code, s.kind
	}
	switch {
	case status == http.StatusConflict && body == petstore.CodeIdempotencyMismatch,
		status == http.StatusUnprocessableEntity && body == petstore.CodeIdempotencyMismatch:
		return body, refused
	case status == http.StatusConflict && body == petstore.CodeConflict: // an earlier attempt is under way
		return body, lost
	case status/100 == 4:
		return petstore.CodeInvalid, refused
	}
	return petstore.CodeInternal, wrong
}

// final returns the error for the caller. If the context has ended, and another attempt
// could have succeeded, the error says that the context ended.
func (c *Client) final(ctx context.Context, f *failure) *petstore.Error {
	e := f.err
	if err := ctx.Err(); err != nil && (f.kind == notDone || f.kind == lost) {
		e = &petstore.Error{Code: petstore.CodeUnavailable, Message: "the call was cancelled", Err: e}
		if errors.Is(err, context.DeadlineExceeded) {
			e.Message = "the call did not end before its deadline"
		}
		if !errors.Is(e.Err, err) { // the cause of the context may be another error
			e.Err = fmt.Errorf("%w: %w", err, e.Err)
		}
	}
	if !f.unknown {
		return e
	}
	hint := ""
	if f.kind == lost && !c.retryWrites {
		hint = "; if it honours Idempotency-Key, set Options.RetryWrites"
	}
	return &petstore.Error{Code: e.Code, Message: e.Message, Err: fmt.Errorf("%w%s: %w", ErrUnknownOutcome, hint, e.Err)}
}

// noResponse returns the failure of an attempt without a complete response.
func (c *Client) noResponse(ctx context.Context, err error) *failure {
	f := &failure{kind: lost}
	if ctx.Err() == nil { // otherwise err may be the cause of ctx, an error of another call
		if e, ok := errors.AsType[*net.OpError](err); ok && (e.Op == "dial" || e.Op == "proxyconnect") {
			f.kind = notDone
		}
		if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
			f.kind = refused
		}
	}
	if strings.Contains(err.Error(), c.key) { // net/http quotes what the server sent
		err = errors.New(c.text(err.Error()))
	}
	f.err = &petstore.Error{
		Code:    petstore.CodeUnavailable,
		Message: "the server cannot be reached, or the connection to it was lost",
		Err:     err,
	}
	return f
}

// failed returns the failure of a response whose status is not 2xx.
func (c *Client) failed(r request, resp *response) *failure {
	var body struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	if json.Unmarshal(resp.body, &body) != nil {
		body.Code, body.Message = "", ""
	}
	cause := &ResponseError{
		URL: c.text(r.url), Status: resp.StatusCode, Code: c.text(body.Code), Message: c.text(body.Message),
		RequestID: c.text(resp.Header.Get("X-Request-ID")), Body: c.text(string(resp.body)),
	}
	code, kind := classify(resp.StatusCode, petstore.Code(body.Code))
	e := &petstore.Error{Code: code, Message: cause.Message, Err: cause}
	if to := resp.Header.Get("Location"); resp.StatusCode/100 == 3 {
		e.Message = fmt.Sprintf(
			"the server redirects to %q, and the client does not follow; use a base URL that is not redirected", c.text(to))
	} else if e.Message == "" {
		e.Message = fmt.Sprintf("the server responded with %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	return &failure{kind: kind, err: e, after: retryAfter(resp.Header)}
}

// broken returns the failure of a response that breaks the contract.
func (c *Client) broken(r request, resp *response, err error) *failure {
	f := c.failed(r, resp)
	f.kind = wrong
	f.err.Message = c.text("the response breaks the contract: " + err.Error())
	return f
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
