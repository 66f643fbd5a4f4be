package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/rules"
)

// request is what a call sends, perhaps several times.
type request struct {
	url    string
	body   []byte // nil for a read
	key    string // the Idempotency-Key; "" for a read
	status int    // of a successful response; 0: any from 200 to 299
	done   string // what the server has done if it responds with success; "" for a read
}

// response is a response with its body.
type response struct {
	*http.Response
	body []byte
}

// maxResponse is the size limit of a response's body, in bytes.
const maxResponse = 16 << 20

// do sends r and decodes the response.
func do[T any](ctx context.Context, c *Client, r request, decode func(*response) (T, error)) (T, error) {
	var zero T
	resp, f := c.send(ctx, r)
	if f != nil {
		return zero, c.final(ctx, f)
	}
	v, err := decode(resp)
	if err != nil {
		f = c.broken(r, resp, err)
		if r.done != "" {
			f.err.Message = "the server " + r.done + ", but " + f.err.Message
			f.unknown = true
		}
		return zero, c.final(ctx, f)
	}
	return v, nil
}

// send sends r until it succeeds or must not be repeated.
func (c *Client) send(ctx context.Context, r request) (*response, *failure) {
	unknown := false // of any attempt
	for attempt := 1; ; attempt++ {
		resp, f := c.attempt(ctx, r)
		if f == nil {
			return resp, nil
		}
		unknown = unknown || r.body != nil && f.kind >= lost
		f.unknown = unknown
		repeat := f.kind == notDone || f.kind == lost && (r.body == nil || c.retryWrites)
		if !repeat || attempt >= c.maxAttempts || !c.wait(ctx, attempt, f.after) {
			return nil, f
		}
	}
}

// attempt sends r once.
func (c *Client) attempt(ctx context.Context, r request) (*response, *failure) {
	req, err := c.newHTTP(ctx, r)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		cannot := &petstore.Error{Code: petstore.CodeOf(err), Message: "the request cannot be sent", Err: err}
		return nil, &failure{kind: refused, err: cannot}
	}
	httpResp, err := c.http.Do(req)
	if err != nil {
		return nil, c.noResponse(ctx, err)
	}
	defer httpResp.Body.Close()
	resp := &response{Response: httpResp}
	if resp.StatusCode != http.StatusSwitchingProtocols { // whose body is a connection, which ignores ctx
		resp.body, err = io.ReadAll(io.LimitReader(httpResp.Body, maxResponse+1))
	}
	switch {
	case resp.StatusCode == http.StatusConflict && err != nil: // its code is not known
		return nil, c.noResponse(ctx, err)
	case resp.StatusCode/100 != 2:
		return nil, c.failed(r, resp) // even if the body is cut
	case err != nil:
		return nil, c.noResponse(ctx, err)
	case r.status != 0 && r.status != resp.StatusCode:
		return nil, c.broken(r, resp, fmt.Errorf("status: must be %d, got %d", r.status, resp.StatusCode))
	case len(resp.body) > maxResponse:
		return nil, c.broken(r, resp, fmt.Errorf("body: must have at most %d bytes", maxResponse))
	}
	return resp, nil
}

func (c *Client) newHTTP(ctx context.Context, r request) (*http.Request, error) {
	method, body := http.MethodGet, io.Reader(nil)
	if r.body != nil {
		method, body = http.MethodPost, bytes.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, method, r.url, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "animalstore-client")
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
		// The name is in lower case because an http.Transport that finds
		// "Idempotency-Key" repeats the request by itself after a lost connection,
		// whether or not the server honours the key.
		req.Header["idempotency-key"] = []string{quoteKey(r.key)}
	}
	return req, nil
}

// wait waits until a request may be repeated after an attempt that failed. after is what
// Retry-After asks for. It returns false if the request must not be repeated.
func (c *Client) wait(ctx context.Context, attempt int, after time.Duration) bool {
	if after > time.Minute {
		return false
	}
	wait := min(20*c.minBackoff, c.minBackoff<<min(attempt-1, 5))
	wait = after + wait/2 + mathrand.N(wait/2+1)
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= wait {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// retryAfter returns how long a response asks the client to wait, or 0.
func retryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 32); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return max(0, time.Until(at))
}

// idempotencyKey returns the Idempotency-Key field for key, as [Client.CreatePet] says. The
// servers of this module accept 512 bytes: 255 characters, quoted and escaped.
func idempotencyKey(key petstore.IdempotencyKey, operation string) string {
	switch {
	case key.Key == "":
		return rand.Text()
	case key.Scope == "" && len(key.Key) <= 255 && rules.Visible(key.Key):
		return key.Key
	}
	digest := rules.Digest(operation, key)
	return hex.EncodeToString(digest[:])
}

var escapeKey = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// quoteKey returns key as the value of an Idempotency-Key field: a String of
// RFC 9651.
func quoteKey(key string) string { return `"` + escapeKey.Replace(key) + `"` }
