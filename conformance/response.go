package conformance

import (
	"cmp"
	"fmt"
	"slices"
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
	{"errors.object", Required, "2.5, 7", "the body of an error is a JSON object"},
	{"errors.media-type", Required, "7", "an error is application/json"},
	{"errors.code", Required, "2.5, 7", "an error has a code"},
	{"errors.message", Required, "2.5, 7", "an error has a message"},
	{"errors.status", Required, "2.5, 7", "an error repeats its HTTP status"},
	{"errors.json", Required, "2.5, 7", "every other error in application/json is JSON"},
	{"errors.any", Recommended, "7", "every error has an Error body, also a 429, 503 or 507, and even if a proxy may refuse the request"},
}

// receive records x and judges what holds for every response.
func (r *run) receive(x *exchange) {
	op := x.request.op()
	if x.try == 0 {
		return
	}
	r.requests++
	if op == opCreate {
		r.recordPost(x)
	}
	r.check("http.response", x, true, "")
	r.check("http.coding", x, x.coding() == "" || len(x.body) == 0 || x.request.accepts(x.coding()),
		"the response has the content coding %s, which the request does not accept", x.coding())
	if !x.request.valid() && !x.hasBadKey() && op != "GET /nothing-here" {
		id := "errors.no-5xx"
		if op == opSubmit {
			id = "messages.no-5xx"
		}
		r.check(id, x, x.status < 500, "an unusual request (%s) gets %s, want no 5xx", x.request.kind(), x.statusLine())
	}
	if x.status == 401 {
		challenges := strings.Join(x.header.Values("WWW-Authenticate"), ", ")
		bearer := strings.Contains(strings.ToLower(challenges), "bearer")
		r.checkField("auth.challenge", x, "WWW-Authenticate", bearer, "the scheme Bearer")
	}
	if x.status >= 400 {
		r.judgeError(x)
	}
}

// judgeError judges the body of an error (contract, sections 2.5 and 7).
func (r *run) judgeError(x *exchange) {
	notError := func(err error) finding {
		return unless(err == nil, "the body of a %d is not an Error: %v", x.status, err)
	}
	o, noObject := x.object()
	_, noCode := o.str("code")
	_, noMessage := o.str("message")
	status, noStatus := o.int64("status")
	if noStatus == nil && status != int64(x.status) {
		noStatus = fmt.Errorf("its status is %d", status)
	}
	if x.mustBeError() {
		r.judge("errors.object", x, notError(noObject))
		r.checkType("errors.media-type", x)
		if noObject == nil {
			r.judge("errors.code", x, notError(noCode))
			r.judge("errors.message", x, notError(noMessage))
			r.judge("errors.status", x, notError(noStatus))
		}
		return
	}
	if x.unavailable() || x.byTarget() && !strings.ContainsAny(x.request.path, "%'") { // a proxy may refuse an escape
		err := cmp.Or(noObject, noCode, noMessage, noStatus)
		if err == nil && !x.isJSON() {
			err = fmt.Errorf("its Content-Type is %q", x.header.Get("Content-Type"))
		}
		r.record("errors.any", x, notError(err))
	}
	if len(x.body) > 0 && x.isJSON() {
		_, err := x.json()
		r.check("errors.json", x, err == nil, "%v", err)
	}
}

// mustBeError reports whether the body of x must be an Error. A proxy or a router may have responded if
// the contract does not say what the request means, or if its method is not allowed or its body too large.
func (x *exchange) mustBeError() bool {
	described := x.request.allow != undefined || x.status == 401
	return x.byTarget() && described && x.status != 405 && x.status != 413
}

// byTarget reports whether x refuses its request as no HTTP server does by itself.
func (x *exchange) byTarget() bool {
	byHTTP := slices.Contains([]int{408, 411, 414, 417, 431}, x.status)
	return x.refused() && !byHTTP && x.request.allow != anything && (x.request.hasKey() || x.status == 401)
}

// checkStatus says that x must have the status want by a check, unless it is ok. what completes
// "the request has …".
func (r *run) checkStatus(id string, x *exchange, what string, ok bool, want string) {
	r.check(id, x, ok, "the request has %s: the response is %s, want %s", what, x.statusLine(), want)
}

// checkField says that a header field of x must be right by a check.
func (r *run) checkField(id string, x *exchange, name string, right bool, want string) {
	got := "missing"
	if v := x.header.Get(name); v != "" {
		got = strconv.Quote(v)
	}
	r.check(id, x, right, "%s is %s, want %s", name, got, want)
}

// checkType says that x must be declared to be JSON by a check.
func (r *run) checkType(id string, x *exchange) {
	r.checkField(id, x, "Content-Type", x.isJSON(), "application/json")
}
