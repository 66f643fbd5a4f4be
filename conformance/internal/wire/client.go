// Package wire sends HTTP requests exactly as they are described, and reads the responses as the
// contract has them. It judges nothing. Start with [NewClient], then [Client.Send].
package wire

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// Client sends requests. It may be used by several goroutines.
type Client struct {
	key      string
	http     http.Client
	timeout  time.Duration
	redactor *strings.Replacer
	events   atomic.Int64
}

// NewClient returns a client with that API key. Show hides the key and the other secrets. timeout is
// for each exchange. A nil transport follows the proxy settings of the environment.
func NewClient(key string, secrets []string, timeout time.Duration, transport http.RoundTripper) *Client {
	if transport == nil {
		transport = &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			ForceAttemptHTTP2:     true,
			DisableCompression:    true,
			MaxIdleConnsPerHost:   64,
			IdleConnTimeout:       time.Second, // shorter than any server's, so that the client closes first
			TLSHandshakeTimeout:   timeout,
			ExpectContinueTimeout: time.Second,
		}
	}
	unfollowed := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{key: key, http: http.Client{Transport: transport, CheckRedirect: unfollowed}, timeout: timeout, redactor: newRedactor(key, secrets)}
}

// Send sends q and reads the whole response. As net/http does, it sends a GET again if a connection that
// was kept is closed without a response.
func (c *Client) Send(ctx context.Context, q Request) *Exchange {
	x := &Exchange{request: q, Sent: time.Now(), Start: c.events.Add(1)}
	x.Err = c.exchange(ctx, x)
	x.Received, x.End = time.Now(), c.events.Add(1)
	return x
}

func (c *Client) exchange(ctx context.Context, x *Exchange) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	hr, err := x.request.http(ctx, c.key)
	if err != nil {
		return err
	}
	res, err := c.http.Do(hr)
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err // x has the URL already
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("the connection was closed without a response")
	}
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusSwitchingProtocols { // no timeout ends the body of a 101
		return errors.New("101 Switching Protocols, for which the request did not ask")
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if err != nil {
		return err // a part of a response may end with a part of the key, which no report must show
	}
	x.proto, x.Header, x.Body = res.Proto, res.Header, body
	if err := x.decompress(); err != nil {
		return err
	}
	x.Status = res.StatusCode
	return nil
}

// Disconnect closes the connections that no exchange uses.
func (c *Client) Disconnect() { c.http.CloseIdleConnections() }

// Show returns a text with words of the target for a report: without the key, and printable.
func (c *Client) Show(s string) string { return printable(c.redactor.Replace(s)) }
