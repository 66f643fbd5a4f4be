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
	Proto    string // such as HTTP/1.1
	Status   int    // 0: no response
	Header   http.Header
	Body     []byte
	Err      error // why there is no response
	Sent     time.Time
	Received time.Time // when the whole response was there

	Attempt   int  // how often the request was sent, this time included
	SentAgain bool // the request was sent once more after this exchange

	parsed parsed
}

// Succeeded reports whether the status is 2xx.
func (x *Exchange) Succeeded() bool { return x.Status >= 200 && x.Status <= 299 }

// Refused reports whether the status is a 4xx that is about this request: a target that is
// not available may accept it later.
func (x *Exchange) Refused() bool { return x.Status >= 400 && x.Status <= 499 && !x.Unavailable() }

// Unavailable reports whether the target does not serve requests now, this one or
// any other.
func (x *Exchange) Unavailable() bool {
	switch x.Status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusInsufficientStorage,
		http.StatusBadGateway, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// Served reports whether there is a response, from a target that is available.
func (x *Exchange) Served() bool { return x.Status != 0 && !x.Unavailable() }

// Failure says why x is not served.
func (x *Exchange) Failure() string {
	if x.Err != nil {
		return x.Err.Error()
	}
	return x.StatusLine()
}

// StatusLine returns the status in words.
func (x *Exchange) StatusLine() string { return StatusLine(x.Status) }

// StatusLine returns a status in words, as in 404 Not Found.
func StatusLine(status int) string {
	if status == 0 {
		return "no response"
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}

// AddedID returns the ID of the pet that x added. It returns false if x added none, or if the
// response does not show its ID.
func (x *Exchange) AddedID() (int64, bool) {
	if x.Request.Operation() != CreatePet || !x.Succeeded() {
		return 0, false
	}
	p, err := ReadPet(x.Object())
	return p.ID, err.ID == nil
}
