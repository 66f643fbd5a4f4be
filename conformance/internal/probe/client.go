package probe

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxBody limits the response bodies that are read: a hundred pets of
// 80 KiB. What is larger is not judged: see [Exchange.Unreadable].
const maxBody = 8 << 20

// Config says how a client sends requests.
type Config struct {
	URL, MessagesURL, Key string
	Timeout               time.Duration     // of one attempt, reading the response included
	Transport             http.RoundTripper // nil: one that follows the environment's proxy settings
	Record                func(*Exchange)   // is called after each attempt, from many goroutines at once
}

// Client sends requests to one target. It is safe for concurrent use.
type Client struct {
	Config
	http http.Client

	// alone is held for reading while a request is under way, and for writing by one that
	// is sent again.
	alone sync.RWMutex
}

// NewClient returns a client.
func NewClient(config Config) *Client {
	rt := config.Transport
	if rt == nil {
		rt = &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			ForceAttemptHTTP2:     true,
			DisableCompression:    true,
			MaxIdleConnsPerHost:   64,
			IdleConnTimeout:       time.Second, // shorter than any server's, so that the client closes first
			TLSHandshakeTimeout:   config.Timeout,
			ExpectContinueTimeout: time.Second,
		}
	}
	return &Client{Config: config, http: http.Client{
		Transport:     rt,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close closes the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Do sends r, and once more if it is not served, and returns the last exchange. A request
// whose connection was lost is sent a third time.
func (c *Client) Do(ctx context.Context, r Request) *Exchange {
	c.alone.RLock()
	x := c.send(ctx, r, 1)
	c.alone.RUnlock()
	for !x.Served() && x.Attempt < attempts(x) && retryAfter(x) <= maxPause && ctx.Err() == nil {
		x = c.Again(ctx, x)
	}
	return x
}

// Again sends the request of x, which was not served, once more, after a pause. It is then the
// only one under way and has a new connection, since the target may have a limit for requests or
// connections. All other requests wait.
func (c *Client) Again(ctx context.Context, x *Exchange) *Exchange {
	c.alone.Lock()
	defer c.alone.Unlock()
	c.Close() // before the pause, so that the target has seen it
	wait := min(retryAfter(x), maxPause) - time.Since(x.Received)
	if !Sleep(ctx, max(wait, shortPause)) {
		return x
	}
	x.SentAgain = true
	return c.send(ctx, x.Request, x.Attempt+1)
}

// How long a client waits before it sends a request again. If the target asks for a longer pause
// than maxPause, Do does not send it again.
const (
	shortPause = 100 * time.Millisecond
	maxPause   = 30 * time.Second
)

// attempts returns how often a request that failed as x did is sent.
func attempts(x *Exchange) int {
	switch {
	case x.Status == http.StatusInsufficientStorage: // which lasts
		return 1
	case x.Err != nil && !IsTimeout(x.Err):
		return 3
	}
	return 2
}

// retryAfter returns how long the target asks to wait, in seconds or until a date (RFC 9110,
// section 10.2.3). 0: it does not.
func retryAfter(x *Exchange) time.Duration {
	v := x.Header.Get("Retry-After")
	if n, err := strconv.ParseUint(v, 10, 32); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(v); err == nil {
		return time.Until(at)
	}
	return 0
}

// Sleep reports whether d passed before ctx ended.
func Sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// send sends r once. Every exchange of a run passes through it.
func (c *Client) send(ctx context.Context, r Request, attempt int) *Exchange {
	x := &Exchange{Request: r, URL: c.URL + r.Path, Attempt: attempt, Sent: time.Now()}
	if r.ForMessages() {
		x.URL = c.MessagesURL + r.Path
	}
	x.Err = c.exchange(ctx, x)
	if x.Err != nil && ctx.Err() != nil {
		x.Err = ctx.Err() // the run ends
	}
	x.Received = time.Now()
	c.Record(x)
	return x
}

// exchange sends the request of x and reads the response into x.
func (c *Client) exchange(ctx context.Context, x *Exchange) error {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	hr, err := x.Request.http(ctx, x.URL, c.Key)
	if err != nil {
		return err
	}
	res, err := c.http.Do(hr)
	if err != nil {
		return plainError(err)
	}
	defer res.Body.Close()
	x.Proto, x.Header = res.Proto, res.Header
	x.Body, err = io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if err == nil {
		err = x.decompress()
	}
	if err == nil {
		x.Status = res.StatusCode
	}
	return err
}

// plainError removes the URL from an error of the HTTP client: the exchange
// has it already.
func plainError(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	if errors.Is(err, io.EOF) {
		return errors.New("the connection was closed without a response")
	}
	return err
}

// IsTimeout reports whether err says that no response came in time.
func IsTimeout(err error) bool {
	var ne net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &ne) && ne.Timeout()
}

// IsUnreachable reports whether err says that no connection could be made.
func IsUnreachable(err error) bool {
	var oe *net.OpError
	return errors.As(err, &oe) && oe.Op == "dial" || err != nil && strings.Contains(err.Error(), "tls:")
}
