package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// maxBody limits the response bodies that are read: a hundred pets of
// 80 KiB.
const maxBody = 8 << 20

// Config says how a client sends requests.
type Config struct {
	URL, MessagesURL, Key string
	Timeout               time.Duration     // of one attempt, reading the response included
	Parallel              int               // the most requests at a time
	Transport             http.RoundTripper // nil: one that follows the environment's proxy settings
}

// Client sends requests to one target. It is safe for concurrent use.
type Client struct {
	Config
	http http.Client

	// alone is a client that keeps no connections. Its requests cannot meet one that
	// the server is about to close.
	alone http.Client

	// fresh says that each request gets a connection of its own.
	fresh atomic.Bool

	mu     sync.Mutex
	sent   []*Exchange // see Exchanges
	next   time.Time   // when the next request may be sent; see hold
	waited time.Duration
	pace   pace
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
	c := &Client{Config: config, http: hc, alone: hc, pace: newPace(config.Parallel)}
	c.pace.ended.L = &c.mu
	if t, ok := rt.(*http.Transport); ok {
		t = t.Clone()
		t.DisableKeepAlives = true
		c.alone.Transport = t
	}
	return c
}

// Close closes the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// NoReuse makes each further request use a connection of its own.
func (c *Client) NoReuse() {
	c.fresh.Store(true)
	c.Close()
}

// Forget removes x from what Exchanges returns.
func (c *Client) Forget(x *Exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = slices.DeleteFunc(c.sent, func(o *Exchange) bool { return o == x })
}

// Exchanges returns every exchange so far, repeated ones too, in the order in
// which they ended.
func (c *Client) Exchanges() []*Exchange {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.sent)
}

// Do sends r and returns the exchange. It sends r again if the target asks for
// that (429, 503, and a gateway's 502 and 504) or drops the connection; it returns the
// last exchange. An attempt that fails while others are under way does not count: see
// pace.
func (c *Client) Do(ctx context.Context, r Request) *Exchange {
	crowded := 0
	for attempt := 1; ; attempt++ {
		x := c.send(ctx, r, attempt)
		if x.crowded {
			crowded++
		}
		wait, again := c.again(x, attempt-crowded)
		if !again || ctx.Err() != nil {
			return x
		}
		if x.Status == http.StatusTooManyRequests {
			c.hold(wait)
		} else if sleep(ctx, wait) != nil {
			return x
		}
		x.Repeated = true
	}
}

// Send sends r once.
func (c *Client) Send(ctx context.Context, r Request) *Exchange { return c.send(ctx, r, 1) }

// SendAgain sends the request of x once more, on a connection of its own.
func (c *Client) SendAgain(ctx context.Context, x *Exchange) *Exchange {
	x.Repeated = true
	return c.send(ctx, x.Request, x.Attempts+1)
}

// send sends r for the attempt of that number. Every exchange of a run passes
// through it.
func (c *Client) send(ctx context.Context, r Request, attempt int) *Exchange {
	x := &Exchange{Request: r, URL: c.urlOf(r), Attempts: attempt, Sent: time.Now()}
	c.begin(x)
	if x.Err = sleep(ctx, c.turn()); x.Err == nil {
		c.exchange(ctx, x)
	}
	x.Received = time.Now()
	c.end(x)
	return x
}

func (c *Client) urlOf(r Request) string {
	if r.Messages {
		return c.MessagesURL + r.Path
	}
	return c.URL + r.Path
}

func (c *Client) exchange(ctx context.Context, x *Exchange) {
	x.Sent = time.Now()
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(conn httptrace.GotConnInfo) { x.Reused = conn.Reused },
	})
	hr, err := x.Request.http(ctx, x.URL, c.Key)
	if err != nil {
		x.Err = err
		return
	}
	hr.Close = c.fresh.Load()
	hc := &c.http
	if x.Attempts > 1 || x.Request.Fresh {
		c.Close() // the server may limit connections
		hc = &c.alone
	}
	res, err := hc.Do(hr)
	if err != nil {
		x.Err = plainError(err)
		return
	}
	defer res.Body.Close()
	x.Proto, x.Header = res.Proto, res.Header
	x.Body, x.Err = io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	x.Cut = errors.Is(x.Err, io.ErrUnexpectedEOF)
	if len(x.Body) > maxBody {
		x.Err = fmt.Errorf("the response is larger than %d MiB", maxBody>>20)
	}
	if x.Err == nil {
		x.Err = x.decompress()
	}
	if x.Err == nil {
		x.Status = res.StatusCode
	}
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
