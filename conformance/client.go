package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

// request is a request to the target.
type request struct {
	method   string
	path     string // below the base address, escaped, with its query
	messages bool   // below MessagesURL rather than URL
	auth     credential
	ctype    string // Content-Type; "": none
	body     []byte
	chunked  bool
	accepts  string // Accept; "": application/json
}

func get(path string) request {
	return request{method: http.MethodGet, path: path, auth: validKey()}
}

func post(path string, body string) request {
	return request{method: http.MethodPost, path: path, auth: validKey(), ctype: "application/json", body: []byte(body)}
}

func postMessage(body string) request {
	r := post("/messages", body)
	r.messages = true
	return r
}

// as returns r with another credential.
func (r request) as(c credential) request {
	r.auth = c
	return r
}

// How long to bear with a target that asks to be left alone for a while.
const (
	maxAttempts = 8
	maxWait     = 30 * time.Second // before one attempt
	maxWaits    = 90 * time.Second // before all attempts of one request
)

// maxBody bounds an answer that is read: a hundred pets of more than
// 256 KiB each.
const maxBody = 64 << 20

// client sends requests to one target and keeps what passed.
type client struct {
	target  Target
	http    http.Client
	timeout time.Duration

	// gone says that the last request found no one listening, after all its
	// attempts. Until one does, a request is sent once.
	gone atomic.Bool

	// until is when a target that answered 429 will take requests again:
	// every request waits for it, so that a run does not fight its own quota.
	mu    sync.Mutex
	until time.Time
}

func newClient(t Target, o Options) *client {
	rt := o.Transport
	if rt == nil {
		rt = &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			ForceAttemptHTTP2:     true,
			DisableCompression:    true,
			MaxIdleConnsPerHost:   64,
			IdleConnTimeout:       time.Second, // less than any server's, so that we close first
			TLSHandshakeTimeout:   o.Timeout,
			ExpectContinueTimeout: time.Second,
		}
	}
	return &client{target: t, timeout: o.Timeout, http: http.Client{
		Transport:     rt,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// do sends r, again if the target asks for that (429, 503 and a gateway's 502
// and 504) or drops the connection, and returns the last exchange. An error
// means that there was no answer; the exchange is there all the same.
func (c *client) do(ctx context.Context, r request) (*exchange, error) {
	var waited time.Duration
	for attempt := 1; ; attempt++ {
		if err := c.wait(ctx); err != nil {
			return &exchange{req: r, url: c.url(r), err: err}, err
		}
		x := c.once(ctx, r)
		x.attempts = attempt
		wait, again := c.again(x, attempt)
		if !again || ctx.Err() != nil {
			c.gone.Store(isDial(x.err))
			return x, x.err
		}
		if waited += wait; wait > maxWait || waited > maxWaits {
			return x, x.err
		}
		if x.status == http.StatusTooManyRequests {
			c.hold(wait)
			continue
		}
		if err := sleep(ctx, wait); err != nil {
			return x, err
		}
	}
}

// again reports whether to repeat what gave x, and after how long.
func (c *client) again(x *exchange, attempt int) (time.Duration, bool) {
	backoff := 50 * time.Millisecond << attempt
	switch x.status {
	case 0: // no answer; a timeout is not repeated, it would take as long again
		return backoff / 2, attempt < 3 && !isTimeout(x.err) && !c.gone.Load()
	case http.StatusTooManyRequests:
		return retryAfter(x, backoff), attempt < maxAttempts
	case http.StatusServiceUnavailable:
		if x.header.Get("Retry-After") != "" {
			return retryAfter(x, backoff), attempt < 4
		}
		return backoff, attempt < 3
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return backoff, attempt < 3
	}
	return 0, false
}

// retryAfter returns how long the target asks to wait: seconds or a date
// (RFC 9110, section 10.2.3).
func retryAfter(x *exchange, otherwise time.Duration) time.Duration {
	v := x.header.Get("Retry-After")
	if n, err := strconv.Atoi(v); err == nil && n >= 0 {
		return max(time.Duration(n)*time.Second, otherwise)
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(time.Until(at), otherwise)
	}
	return otherwise
}

func (c *client) hold(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if until := time.Now().Add(d); until.After(c.until) {
		c.until = until
	}
}

func (c *client) wait(ctx context.Context) error {
	c.mu.Lock()
	d := time.Until(c.until)
	c.mu.Unlock()
	return sleep(ctx, d)
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *client) url(r request) string {
	if r.messages {
		return c.target.MessagesURL + r.path
	}
	return c.target.URL + r.path
}

// once sends r one time.
func (c *client) once(ctx context.Context, r request) *exchange {
	x := &exchange{req: r, url: c.url(r), sent: time.Now()}
	defer func() { x.took = time.Since(x.sent) }()
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()

	hr, err := c.httpRequest(ctx, r)
	if err != nil {
		x.err = err
		return x
	}
	res, err := c.http.Do(hr)
	if err != nil {
		x.err = plainError(err)
		return x
	}
	defer res.Body.Close()
	x.proto, x.header = res.Proto, res.Header
	x.body, x.err = io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if len(x.body) > maxBody {
		x.err = fmt.Errorf("the answer is larger than %d MiB", maxBody>>20)
	}
	if x.err == nil {
		x.status = res.StatusCode
	}
	return x
}

func (c *client) httpRequest(ctx context.Context, r request) (*http.Request, error) {
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
		if r.chunked {
			body = io.MultiReader(body) // of no known length
		}
	}
	hr, err := http.NewRequestWithContext(ctx, r.method, c.url(r), body)
	if err != nil {
		return nil, err
	}
	for _, f := range r.fields() {
		hr.Header.Set(f.Name, f.Value)
	}
	if r.auth.value != nil {
		hr.Header.Set("Authorization", r.auth.value(c.target.Key))
	}
	return hr, nil
}

// fields returns r's header fields but for Authorization.
func (r request) fields() []Field {
	accepts := r.accepts
	if accepts == "" {
		accepts = "application/json"
	}
	fields := []Field{
		{"Accept", accepts},
		{"Accept-Encoding", "identity"},
		{"User-Agent", "petstore-conformance"},
	}
	if r.ctype != "" {
		fields = append(fields, Field{"Content-Type", r.ctype})
	}
	return fields
}

// plainError takes the address off an error of the HTTP client: the exchange
// shows it already.
func plainError(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	if errors.Is(err, io.EOF) {
		return errors.New("the connection was closed without an answer")
	}
	return err
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &ne) && ne.Timeout()
}

// isDial reports whether err says that there was no connection at all.
func isDial(err error) bool {
	var oe *net.OpError
	return errors.As(err, &oe) && oe.Op == "dial" || err != nil && strings.Contains(err.Error(), "tls:")
}
