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
	"sync/atomic"
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
	Ended                 func(*Exchange)   // is called after each attempt, from many goroutines at once
}

// Client sends requests to one target. It is safe for concurrent use.
type Client struct {
	Config
	http http.Client
	own  http.Client // gives each request a connection of its own

	// alone is held for reading while a request is under way, and for writing by one that
	// is sent again.
	alone  sync.RWMutex
	inVain atomic.Int64 // how many requests were sent again and never served
}

// NewClient returns a client.
func NewClient(config Config) *Client {
	rt := config.Transport
	if rt == nil {
		rt = &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			ForceAttemptHTTP2:   true,
			DisableCompression:  true,
			MaxIdleConnsPerHost: 64,
			IdleConnTimeout:     time.Second, // shorter than any server's, so that the client closes first
			TLSHandshakeTimeout: config.Timeout,
		}
	}
	hc := http.Client{
		Transport:     rt,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	c := &Client{Config: config, http: hc, own: hc}
	if t, ok := rt.(*http.Transport); ok {
		t = t.Clone()
		t.DisableKeepAlives = true
		c.own.Transport = t
	}
	return c
}

// Close closes the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Do sends r, again if the target asks for that or if there is no response, and returns
// the last exchange. A request that is sent again is the only one under way and has a
// connection of its own, after the idle ones are closed: the target may have a limit for
// requests or connections. While it waits for what Retry-After says, all requests wait.
func (c *Client) Do(ctx context.Context, r Request) *Exchange {
	c.alone.RLock()
	x := c.send(ctx, r, 1, &c.http)
	c.alone.RUnlock()
	if _, again := c.again(x); !again {
		return x
	}
	c.alone.Lock()
	defer c.alone.Unlock()
	c.Close()
	for {
		wait, again := c.again(x)
		if !again || !Sleep(ctx, wait) {
			break
		}
		x.Repeated = true
		x = c.send(ctx, r, x.Attempts+1, &c.own)
	}
	if !x.Served() {
		c.inVain.Add(1)
	}
	return x
}

const (
	maxWait     = 30 * time.Second // before one attempt
	maxInVain   = 8                // after so many requests in vain, none is sent again
	maxTimeouts = 2                // after so many in vain, none is sent again that got no response in time
)

// again reports whether to send the request of x again, and after how long.
func (c *Client) again(x *Exchange) (wait time.Duration, again bool) {
	wait = 50 * time.Millisecond << x.Attempts
	most := 3 // attempts
	switch {
	case c.inVain.Load() >= maxInVain, IsTimeout(x.Err) && c.inVain.Load() >= maxTimeouts:
		return 0, false
	case IsTimeout(x.Err):
		most = 2
	case x.Err != nil:
	case x.Unavailable() && x.Status != http.StatusInsufficientStorage:
		most, wait = 5, retryAfter(x, wait)
	default:
		return 0, false
	}
	return wait, x.Attempts < most && wait <= maxWait
}

// retryAfter returns how long the target asks to wait, in seconds or until a
// date (RFC 9110, section 10.2.3), but at least atLeast.
func retryAfter(x *Exchange, atLeast time.Duration) time.Duration {
	v := x.Header.Get("Retry-After")
	if n, err := strconv.ParseUint(v, 10, 32); err == nil {
		return max(time.Duration(n)*time.Second, atLeast)
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(time.Until(at), atLeast)
	}
	return atLeast
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
func (c *Client) send(ctx context.Context, r Request, attempt int, hc *http.Client) *Exchange {
	x := &Exchange{Request: r, URL: c.URL + r.Path, Attempts: attempt, Sent: time.Now()}
	if r.ForMessages() {
		x.URL = c.MessagesURL + r.Path
	}
	x.Err = c.exchange(ctx, x, hc)
	if x.Err != nil && ctx.Err() != nil {
		x.Err = ctx.Err() // the run ends
	}
	x.Received = time.Now()
	c.Ended(x)
	return x
}

// exchange sends the request of x and reads the response into x.
func (c *Client) exchange(ctx context.Context, x *Exchange, hc *http.Client) error {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	hr, err := x.Request.http(ctx, x.URL, c.Key)
	if err != nil {
		return err
	}
	res, err := hc.Do(hr)
	if err != nil {
		return plainError(err)
	}
	defer res.Body.Close()
	x.Proto, x.Header = res.Proto, res.Header
	x.Body, err = io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	x.Cut = errors.Is(err, io.ErrUnexpectedEOF)
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
