package conformance

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// What every response is judged by, when it is received.

var responseChecks = []Check{
	{"http.response", Required, "4", "every request gets a response, the whole of it"},
	{"errors.no-5xx", Required, "4, 7", "no bad request gets 5xx"},
	{"messages.no-5xx", Required, "4, 7", "no bad message gets 5xx"},
	{"http.coding", Recommended, "RFC 9110, 12.5.3", "a response is compressed only if the request accepts it"},
	{"http.media-type.case", Recommended, "RFC 9110, 8.3.1", "the media type of a request has no case"},
	{"http.chunked", Recommended, "RFC 9112, 7.1", "a body in chunks is accepted, or gets 411"},
	{"http.expect", Recommended, "RFC 9110, 10.1.1", "a request with Expect: 100-continue is accepted"},
}

var errorChecks = []Check{
	{"errors.object", Required, "2.5, 7", "the body of a 401, of a 400 for a POST and of a 404 for a pet is a JSON object"},
	{"errors.media-type", Required, "7", "such an error is application/json"},
	{"errors.code", Required, "2.5, 7", "such an error has a code"},
	{"errors.message", Required, "2.5, 7", "such an error has a message"},
	{"errors.status", Required, "2.5, 7", "such an error repeats its HTTP status"},
	{"errors.any", Recommended, "7", "every other error has an Error body, even if a proxy may have sent it"},
}

// receive records x and judges what holds for every response.
func (r *run) receive(x *exchange) {
	op := x.request.op()
	if x.tries == 0 {
		return
	}
	r.exchanges = append(r.exchanges, x)
	switch {
	case op == opCreate:
		r.recordPost(x)
	case op == opSubmit && x.Succeeded():
		r.submitted++
	}
	r.check("http.response", x, true, "")
	r.check("http.coding", x, x.Coding() == "" || len(x.Body) == 0 || x.request.Accepts(x.Coding()),
		"the response has the content coding %s, which the request does not accept", x.Coding())
	if !x.request.valid() && !x.request.hasBadKey() {
		id := "errors.no-5xx"
		if op == opSubmit {
			id = "messages.no-5xx"
		}
		r.check(id, x, x.Status < 500, "an unusual request (%s) gets %s, want no 5xx", x.request.kind(), x.StatusLine())
	}
	if x.Status == 401 {
		challenges := strings.Join(x.Header.Values("WWW-Authenticate"), ", ")
		bearer := strings.Contains(strings.ToLower(challenges), "bearer")
		r.checkField("auth.challenge", x, "WWW-Authenticate", bearer, "the scheme Bearer")
	}
	if x.Status >= 400 {
		r.judgeError(x)
	}
}

// judgeError judges the body of an error (contract, sections 2.5 and 7).
func (r *run) judgeError(x *exchange) {
	notError := func(err error) finding {
		return unless(err == nil, "the body of a %d is not an Error: %v", x.Status, err)
	}
	noObject := x.Object()
	_, noCode := x.Str("code")
	_, noMessage := x.Str("message")
	status, noStatus := x.Int64("status")
	if noStatus == nil && status != int64(x.Status) {
		noStatus = fmt.Errorf("its status is %d", status)
	}
	if !x.mustBeError() {
		if !x.Readable() || x.tries > 1 {
			return
		}
		err := cmp.Or(noObject, noCode, noMessage, noStatus)
		if err == nil && !x.IsJSON() {
			err = fmt.Errorf("its Content-Type is %q", x.Header.Get("Content-Type"))
		}
		r.record("errors.any", x, notError(err))
		return
	}
	r.judge("errors.object", x, notError(noObject))
	r.checkType("errors.media-type", x)
	if noObject == nil {
		r.judge("errors.code", x, notError(noCode))
		r.judge("errors.message", x, notError(noMessage))
		r.judge("errors.status", x, notError(noStatus))
	}
}

// mustBeError reports whether the contract names the status of x for its request. A proxy or an HTTP
// server may send every other error by itself.
func (x *exchange) mustBeError() bool {
	q := x.request
	switch {
	case x.Status == 401:
		return true
	case !q.hasKey() || q.allow == anything:
		return false
	}
	return x.Status == 400 && q.Method == http.MethodPost || x.Status == 404 && q.op() == opGet && q.allow != undefined
}

// checkStatus says that x must have the status want by a check, unless it is ok. what completes
// "the request has …".
func (r *run) checkStatus(id string, x *exchange, what string, ok bool, want string) {
	r.check(id, x, ok, "the request has %s: the response is %s, want %s", what, x.StatusLine(), want)
}

// checkField says that a header field of x must be right by a check.
func (r *run) checkField(id string, x *exchange, name string, right bool, want string) {
	got := "missing"
	if v := x.Header.Get(name); v != "" {
		got = strconv.Quote(v)
	}
	r.check(id, x, right, "%s is %s, want %s", name, got, want)
}

// checkType says that x must be declared to be JSON by a check.
func (r *run) checkType(id string, x *exchange) {
	r.checkField(id, x, "Content-Type", x.IsJSON(), "application/json")
}
