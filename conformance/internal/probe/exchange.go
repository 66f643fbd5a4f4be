package probe

import (
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
	Attempts int       // how often the request was sent, this time included
	Repeated bool      // the request was sent again

	parsed parsed
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
