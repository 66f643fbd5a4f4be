package probe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Exchange is a request and the response to it, as they were sent and
// received.
type Exchange struct {
	Request  Request
	URL      string
	Proto    string
	Status   int // 0: no response
	Header   http.Header
	Body     []byte
	Err      error // why there is no response
	Cut      bool  // the response began, and the connection was closed before its end
	Sent     time.Time
	Received time.Time // when the whole response was there
	Reused   bool      // an earlier request used the same connection
	Attempts int       // how often the request was sent, this time included
	Repeated bool      // the request was sent again
	Others   int       // how many other requests were under way at the same time, at most

	// Alive says that there is no response, and that a simple request got one right
	// after that.
	Alive bool

	// Before is the exchange before on the same connection, if that one explains
	// the response.
	Before *Exchange

	crowded bool // too many requests may have been under way: see pace
	parsed  parsed
}

// Succeeded reports whether the status is 2xx.
func (x *Exchange) Succeeded() bool { return x.Status >= 200 && x.Status <= 299 }

// Refused reports whether the status is 4xx.
func (x *Exchange) Refused() bool { return x.Status >= 400 && x.Status <= 499 }

// Unavailable reports whether the target does not serve requests now, this one or
// any other.
func (x *Exchange) Unavailable() bool {
	switch x.Status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusInsufficientStorage:
		return true
	}
	return false
}

// overloaded reports whether the target may have had too many requests: it dropped
// the connection, or asked to try again later.
func (x *Exchange) overloaded() bool {
	return x.dropped() || x.Status == http.StatusTooManyRequests || x.Status == http.StatusServiceUnavailable
}

func (x *Exchange) dropped() bool {
	return x.Status == 0 && !IsTimeout(x.Err) && !errors.Is(x.Err, context.Canceled)
}

// Served reports whether there is a response, from a target that is available.
func (x *Exchange) Served() bool { return x.Status != 0 && !x.Unavailable() }

// StatusLine returns the status in words.
func (x *Exchange) StatusLine() string { return StatusLine(x.Status) }

// StatusLine returns a status in words, as in 404 Not Found.
func StatusLine(status int) string {
	if status == 0 {
		return "no response"
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}
