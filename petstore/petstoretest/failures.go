package petstoretest

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

// These difficulties delay the result of a request or withhold it.

func delay(x *exchange, r *rand.Rand) bool {
	x.delay = time.Duration(r.IntN(10)) * time.Millisecond
	return true
}

// refuse refuses a request instead of carrying it out.
func refuse(status int, code string) action {
	return func(x *exchange, r *rand.Rand) bool {
		x.status = status
		x.header.Set("Content-Type", "application/json")
		x.header.Set("Retry-After", x.retryAfter(r))
		x.response = fmt.Appendf(nil, `{"code":%q,"message":"this cannot be done now; try again later","status":%d}`, code, status)
		return true
	}
}

// retryAfter returns the value of Retry-After: a number of seconds or a date. The
// first one asks to wait, so that every client meets one that does. Most others
// allow a repetition at once, so that tests are fast.
func (x *exchange) retryAfter(r *rand.Rand) string {
	if x.first {
		return "1"
	}
	date := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
	switch r.IntN(32) {
	case 0:
		return "1"
	case 1:
		return date(time.Second)
	case 2, 3, 4, 5, 6, 7, 8, 9:
		return date(-time.Minute)
	}
	return "0"
}

func loseRequest(x *exchange, _ *rand.Rand) bool {
	x.cut = true
	return true
}

// loseResponse cuts the connection before the response or in the middle of it.
func loseResponse(x *exchange, r *rand.Rand) bool {
	if !x.done {
		return false
	}
	x.cut = true
	if r.IntN(2) == 0 {
		x.status, x.response = 0, nil
	}
	return true
}
