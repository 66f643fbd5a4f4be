package probe

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// When the client sends: how long it waits before it repeats a request, and how many
// requests are under way.

// spend returns how much of d a request may wait.
func (c *Client) spend(d time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Patience > 0 {
		d = min(d, c.Patience-c.waited)
	}
	c.waited += d
	return d
}

// again reports whether to repeat the request of x, and after how long.
func (c *Client) again(x *Exchange, attempt int) (time.Duration, bool) {
	backoff := 50 * time.Millisecond << attempt
	switch x.Status {
	case 0: // no response; a request that timed out would take as long again
		return backoff / 2, attempt < 3 && !IsTimeout(x.Err) && !c.gone.Load()
	case http.StatusTooManyRequests:
		return retryAfter(x, backoff), attempt < maxAttempts
	case http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout:
		return retryAfter(x, backoff), attempt < 4
	}
	return 0, false
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
	now := time.Now()
	if c.next.Before(now) {
		c.next = now
	}
	wait := c.next.Sub(now)
	c.next = c.next.Add(c.Interval)
	return wait
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

// Limit returns how many requests the client sends at a time. Zero: any number. With
// Yield, a request that is refused with 429 or 503 or loses its connection while n
// requests are under way, itself included, lowers the limit to half of n.
func (c *Client) Limit() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.limit
}

// begin waits until the limit allows another request, and returns how many are under
// way, itself included.
func (c *Client) begin() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.limit > 0 && c.active >= c.limit {
		c.ended.Wait()
	}
	c.active++
	return c.active
}

// end records x, which is no longer under way. n is what begin returned for it.
func (c *Client) end(x *Exchange, n int) {
	defer c.leave()
	c.mu.Lock()
	defer c.mu.Unlock()
	n = max(n, c.active)
	if c.Yield && n > 1 && x.overloaded() {
		x.crowded = true
		if c.limit == 0 || c.limit > n/2 {
			c.limit = n / 2
		}
	}
	switch {
	case x.Status != 0:
		c.silent = time.Time{}
	case IsTimeout(x.Err) && c.silent.IsZero():
		c.silent = x.Sent
	}
	c.sent = append(c.sent, x)
}

// leave counts a request as no longer under way.
func (c *Client) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.active--
	c.ended.Broadcast()
}

// Silent returns for how long the target has been silent: the time since a request was
// sent that got no response in time, if no request has got a response since.
func (c *Client) Silent() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.silent.IsZero() {
		return 0
	}
	return time.Since(c.silent)
}
