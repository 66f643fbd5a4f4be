package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore"
)

// ErrMaybeDone says that the server may have carried out a creation or submission: the
// response was lost, broke the contract, or was a 101, a redirect or a 5xx but 507. If the server
// honors Idempotency-Key, the call can be repeated with the same Key.
var ErrMaybeDone = errors.New("the server may have carried out the request")

// ResponseError is the response that is the reason for an error. The API key is removed from
// its texts, unless it is escaped.
type ResponseError struct {
	Status    int
	Code      petstore.Code // in the Error, as the server sent it; "": none
	Message   string        // in the Error
	RequestID string        // the X-Request-ID
	Body      string        // the first KiB; "" if the body was cut
}

func (e *ResponseError) Error() string {
	return fmt.Sprintf("status %d, X-Request-ID %q, body %.200q", e.Status, e.RequestID, e.Body)
}

type request struct {
	url  *url.URL
	body []byte // nil for a read
	key  string // the Idempotency-Key; "": none
}

// failure says why an attempt failed.
type failure struct {
	petstore.Error
	after   time.Duration // what the server asks the client to wait
	repeat  bool          // another attempt may succeed
	unknown bool          // the server may have carried it out
}

// do sends r until it succeeds or must not be repeated.
func do[W, T any](ctx context.Context, c *Client, r request, decode decoder[W, T]) (zero T, _ error) {
	unknown := false // of a creation, in any attempt
	for n := 1; ; n++ {
		resp, body, f := c.send(ctx, r)
		if f == nil {
			var w W
			broken := "the JSON is malformed or has another form" // its error may have a part of the key
			if json.Unmarshal(body, &w) == nil {
				v, err := decode(resp.Header, w)
				if err == nil {
					return v, nil
				}
				broken, _, _ = strings.Cut(err.Error(), ", got ") // as a value may
			}
			f = c.failed(resp, body, "the response breaks the contract: "+broken)
		}
		unknown = unknown || f.unknown && r.body != nil
		f.repeat = f.repeat || unknown && f.Code == petstore.CodeConflict // an earlier attempt may be under way
		if f.repeat && n < c.options.MaxAttempts && (!unknown || c.options.RetryWrites) && c.wait(ctx, n, f.after) {
			continue
		}
		if ctx.Err() != nil && f.repeat {
			f.Err = fmt.Errorf("%w: %w", ctx.Err(), f.Err)
		}
		if unknown {
			f.Err = fmt.Errorf("%w: %w", ErrMaybeDone, f.Err)
		}
		return zero, &f.Error
	}
}

// send sends r once. It returns a response of 2xx, or of 200 to a read, with its body.
func (c *Client) send(ctx context.Context, r request) (_ *http.Response, body []byte, _ *failure) {
	lost := &failure{repeat: true}
	lost.Code, lost.Message = petstore.CodeUnavailable, "the server cannot be reached, or its connection was lost"
	if lost.Err = ctx.Err(); lost.Err != nil {
		return nil, nil, lost
	}
	var asked, got atomic.Bool // the transport wants a connection, and has one; some report neither
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { got.Store(true) },
	})
	req := (&http.Request{Method: "GET", URL: r.url, Header: http.Header{"Authorization": {"Bearer " + c.key}}}).WithContext(ctx)
	if r.body != nil {
		req.Method, req.ContentLength = "POST", int64(len(r.body))
		req.Body = io.NopCloser(bytes.NewReader(r.body)) // with a GetBody, net/http would repeat what has an Idempotency-Key
		req.Header.Set("Content-Type", "application/json")
	}
	if r.key != "" {
		req.Header.Set("Idempotency-Key", strconv.Quote(r.key)) // a String of RFC 9651
	}
	resp, err := c.http.Do(req)
	if err == nil {
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusSwitchingProtocols { // whose body is the connection, which ignores ctx
			body, err = io.ReadAll(io.LimitReader(resp.Body, 16<<20))
		}
	}
	if err != nil {
		body = nil // it may end in the middle of the key
	}
	switch {
	case resp != nil && resp.StatusCode != 200 && (r.body == nil || resp.StatusCode/100 != 2): // a 206 is a part of a list
		return nil, nil, c.failed(resp, body, "")
	case err != nil:
		lost.Err = errors.New(c.text(err.Error())) // net/http quotes what a server sends
		lost.unknown = got.Load() || !asked.Load()
		_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
		lost.repeat = !certificate && !errors.Is(err, http.ErrSchemeMismatch) // a repeat would get the same
		return nil, nil, lost
	}
	return resp, body, nil
}

// failed returns what an error response means, or one that breaks the contract, as message says.
func (c *Client) failed(resp *http.Response, body []byte, message string) *failure {
	var e struct {
		Code    petstore.Code `json:"code"`
		Message string        `json:"message"`
	}
	_ = json.Unmarshal(body, &e) // it may be HTML
	status, f, after := resp.StatusCode, new(failure), resp.Header.Get("Retry-After")
	seconds, _ := strconv.Atoi(after) // the greatest int, if it is greater
	f.after = time.Duration(min(seconds, 1e6)) * time.Second
	if at, err := http.ParseTime(after); err == nil {
		f.after = time.Until(at)
	}
	f.Message = c.text(cmp.Or(message, e.Message, "the server responded with "+http.StatusText(status)))
	f.Err = &ResponseError{status, petstore.Code(c.text(string(e.Code))), c.text(e.Message), c.text(resp.Header.Get("X-Request-ID")), c.text(string(body))}
	switch {
	case status == 401, status == 403:
		f.Code = petstore.CodeUnauthorized
	case status == 404:
		f.Code = petstore.CodeNotFound
	case status == 429:
		f.Code, f.repeat = petstore.CodeUnavailable, true
	case status == 409 && e.Code == petstore.CodeConflict, status == 422 && e.Code == petstore.CodeIdempotencyMismatch:
		f.Code = e.Code // otherwise the status has another meaning
	case status/100 == 4:
		f.Code = petstore.CodeInvalid
	case status == 507:
		f.Code = petstore.CodeInsufficientStorage
	case status/100 == 5 && status != 500:
		f.Code, f.repeat, f.unknown = petstore.CodeUnavailable, true, true
	default:
		f.Code, f.repeat, f.unknown = petstore.CodeInternal, status == 500, true
	}
	return f
}

// wait waits until a request may be repeated. It returns false if it must not be.
func (c *Client) wait(ctx context.Context, attempt int, after time.Duration) bool {
	backoff := max(0, c.options.MinBackoff) << min(attempt-1, 4)
	wait := max(0, after) + backoff/2 + rand.N(backoff/2+1)
	if deadline, ok := ctx.Deadline(); after > time.Minute || ok && time.Until(deadline) <= wait {
		return false
	}
	select {
	case <-time.After(wait):
		return true
	case <-ctx.Done():
		return false
	}
}

// text returns s, which a server sent, without the API key, and cut to 1 KiB.
func (c *Client) text(s string) string {
	s = strings.ReplaceAll(s, c.key, "[API key]")
	return strings.ToValidUTF8(s[:min(len(s), 1<<10)], "")
}
