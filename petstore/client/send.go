package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.com/animalstore/petstore"
)

// response is a response with its body.
type response struct {
	*http.Response
	body []byte
}

// send sends r until it succeeds or must not be sent again.
func (c *Client) send(ctx context.Context, r *request) (*response, error) {
	unknown := false // whether the server may have carried out a try
	for try := 1; ; try++ {
		resp, f := c.try(ctx, r)
		if f == nil {
			return resp, nil
		}
		unknown = unknown || f.unknown
		allowed := !unknown || c.opts.IdempotentServer
		if !f.again || !allowed || c.opts.Retry.last(ctx, try, f) || !c.wait(ctx, try, f) {
			return nil, f.final(unknown)
		}
	}
}

// try sends r once.
func (c *Client) try(ctx context.Context, r *request) (*response, *failure) {
	req, sent, err := c.newHTTP(ctx, r)
	if err != nil {
		return nil, &failure{err: &petstore.Error{Code: petstore.CodeInternal, Message: "the request cannot be built", Err: err}}
	}
	httpResp, err := c.http.Do(req)
	if err != nil {
		return nil, c.lost(ctx, err, !sent.withheld())
	}
	defer httpResp.Body.Close()
	resp := &response{Response: httpResp}
	resp.body, err = io.ReadAll(http.MaxBytesReader(nil, httpResp.Body, c.opts.MaxResponseBytes))
	if r.deprecated {
		c.warn(resp.Header)
	}
	switch {
	case resp.StatusCode/100 != 2:
		return nil, c.refused(r, resp) // even if the body is cut
	case r.status != 0 && r.status != resp.StatusCode:
		return nil, c.broken(r, resp, faultf("status", "must be %d, got %d", r.status, resp.StatusCode))
	}
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, c.broken(r, resp, faultf("body", "must have at most %d bytes; see Options.MaxResponseBytes", e.Limit))
	}
	if err != nil {
		return nil, c.lost(ctx, fmt.Errorf("%s %s: reading the response after %d bytes: %w", r.method(), r.url(), len(resp.body), err), r.body != nil)
	}
	return resp, nil
}

// lost returns the failure of a try without a complete response. sent says whether
// the body of a creation or submission may have been sent.
func (c *Client) lost(ctx context.Context, err error, sent bool) *failure {
	if strings.Contains(err.Error(), c.key) { // the error may quote the server
		err = errors.New(c.text(err.Error()))
	}
	f := &failure{unknown: sent}
	if ctx.Err() != nil {
		f.err = cancelled(ctx, err)
		return f
	}
	f.err = &petstore.Error{Code: petstore.CodeUnavailable, Message: "the server cannot be reached, or the connection to it was lost", Err: err}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		f.err.Message = "the server did not respond in time"
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	f.again = !untrusted
	return f
}

// refused returns the failure of a response whose status is not 2xx.
func (c *Client) refused(r *request, resp *response) *failure {
	status := resp.StatusCode
	f := &failure{err: c.responseError(r, resp), status: status}
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		f.again = true
	case http.StatusConflict:
		f.again = f.err.Code == petstore.CodeConflict && c.opts.IdempotentServer
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		f.again = true
	}
	// 501 and 507 say that the server did not carry out the request. Any other 5xx
	// may come from a proxy, or from a server that failed after it did. A 303 leads
	// to the result of a request, so that was carried out.
	f.unknown = r.body != nil && status != http.StatusNotImplemented && status != http.StatusInsufficientStorage &&
		(status >= 500 || status == http.StatusSeeOther)
	f.after = retryAfter(resp.Header)
	return f
}

// warn logs that GetPet is deprecated if a response says so, the first time only.
func (c *Client) warn(h http.Header) {
	deprecation, sunset := h.Get("Deprecation"), h.Get("Sunset") // RFC 9745, RFC 8594
	if deprecation == "" && sunset == "" {
		return
	}
	c.deprecated.Do(func() {
		var attrs []slog.Attr
		if n, err := strconv.ParseInt(strings.TrimPrefix(deprecation, "@"), 10, 64); err == nil {
			attrs = append(attrs, slog.Time("since", time.Unix(n, 0).UTC()))
		}
		if until, err := http.ParseTime(sunset); err == nil {
			attrs = append(attrs, slog.Time("until", until))
		}
		c.opts.Logger.LogAttrs(context.Background(), slog.LevelWarn, "GetPet is deprecated; use ListPets", attrs...)
	})
}
