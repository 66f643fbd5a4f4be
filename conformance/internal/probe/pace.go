package probe

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// When the client sends: how long it waits before it repeats a request, and how many
// requests are under way.

// How long a client waits for a target that asks it to try again later.
const (
	maxAttempts = 8
	maxWait     = 30 * time.Second // before one attempt
	maxWaits    = 10 * time.Second // in all, unless the target asks for more with Retry-After
)

// again reports whether to repeat the request of x, and after how long.
func (c *Client) again(x *Exchange, attempt int) (time.Duration, bool) {
	backoff := 25 * time.Millisecond << attempt
	switch x.Status {
	case 0: // no response; a request that timed out would take as long again
		return c.spend(backoff), attempt < 3 && !IsTimeout(x.Err)
	case http.StatusTooManyRequests:
		wait := retryAfter(x, 2*backoff)
		return wait, attempt < maxAttempts && wait <= maxWait
	case http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout:
		wait := retryAfter(x, 2*backoff)
		if x.Header.Get("Retry-After") == "" {
			wait = c.spend(wait)
		}
		return wait, attempt < 4 && wait <= maxWait
	}
	return 0, false
}

// spend returns how much of d a request may wait.
func (c *Client) spend(d time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	d = min(d, maxWaits-c.waited)
	c.waited += d
	return d
}

// retryAfter returns how long the target asks to wait, in seconds or until a
// date (RFC 9110, section 10.2.3), but at least atLeast.
func retryAfter(x *Exchange, atLeast time.Duration) time.Duration {
	v := x.Header.Get("Retry-After")
	if n, err := strconv.Atoi(v); err == nil && n >= 0 {
		return max(time.Duration(n)*time.Second, atLeast)
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(time.Until(at), atLeast)
	}
	return atLeast
}

// hold delays every request by d, so that a run does not use up its own quota.
func (c *Client) hold(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if until := time.Now().Add(d); until.After(c.next) {
		c.next = until
	}
}

// turn returns how long the next request has to wait for its turn.
func (c *Client) turn() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Until(c.next)
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pace limits how many requests are under way. Some servers accept few connections. So at
// first there are 4. A request that gets 429 or 503 or loses its connection while n are
// under way, itself included, lowers the limit to half of n. If most of the first 20 take
// more than 50 ms and none of them lowers the limit, it rises to the largest number that
// is allowed: the target is far away.
type pace struct {
	ended  sync.Cond // a request has ended
	active int       // how many are under way
	limit  int
	most   int // the largest limit

	first, slow int // how many of the first requests have ended, and how many took long
}

const (
	startLimit    = 4
	firstRequests = 20
	farAway       = 50 * time.Millisecond
)

func newPace(most int) pace { return pace{limit: min(startLimit, most), most: most} }

// begin waits until the limit allows another request, x.
func (c *Client) begin(x *Exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.pace.active >= c.pace.limit {
		c.pace.ended.Wait()
	}
	c.pace.active++
	x.Others = c.pace.active - 1
}

// end records x, which is no longer under way.
func (c *Client) end(x *Exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x.Others = max(x.Others, c.pace.active-1)
	c.pace.active--
	if x.Others > 0 && x.overloaded() {
		x.crowded = true
		c.pace.limit = min(c.pace.limit, (x.Others+1)/2)
		c.pace.first = firstRequests // the limit no longer rises
	}
	c.pace.learn(x.Received.Sub(x.Sent))
	c.sent = append(c.sent, x)
	c.pace.ended.Broadcast()
}

// learn raises the limit if the target is far away. took is the duration of an exchange.
func (p *pace) learn(took time.Duration) {
	if p.first == firstRequests {
		return
	}
	p.first++
	if took > farAway {
		p.slow++
	}
	if p.first == firstRequests && p.slow > firstRequests/2 {
		p.limit = p.most
	}
}
