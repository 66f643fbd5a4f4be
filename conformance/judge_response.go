package conformance

import (
	"fmt"
	"net/http"

	"example.com/animalstore/conformance/internal/probe"
)

// What every response is judged by, and what HTTP says.

func responseChecks() []Check {
	return []Check{
		{
			ID: "http.response", Clause: "response", Title: "every request gets a response",
			basic: aboutResponse, attempts: true, applies: func(x *exchange) bool { return true },
			wrong: func(x *exchange) string {
				switch {
				case !x.Alive || len(x.Request.Body) > veryLargeBody: // a target may close the connection, and its response is lost
					return ""
				case probe.IsTimeout(x.Err):
					return fmt.Sprintf("%d requests get no response in time, and other requests do", x.Attempts)
				}
				return fmt.Sprintf("%v, and other requests get responses", x.Err)
			},
		},
		{
			ID: "http.complete", Clause: "response", Title: "every response is complete",
			basic: aboutResponse, attempts: true, applies: func(x *exchange) bool { return true },
			wrong: func(x *exchange) string {
				if cut := x.run.cut(); x.Cut && cut > 2 && cut > len(x.run.all)/100 { // a few may be the network's fault
					return fmt.Sprintf("the connection is closed in the middle of %d responses", cut)
				}
				return ""
			},
		},
		{
			ID: "http.connection.reuse", Clause: "list", Title: "a list is served on the connection of a request that was refused",
			basic: aboutResponse, idle: true, applies: func(x *exchange) bool { return x.Before != nil && x.query != nil && x.valid() },
			wrong: func(x *exchange) string {
				if x.Status == http.StatusOK {
					return ""
				}
				return fmt.Sprintf("the body of the %s that got %s seems to be left unread: after it on the same connection GET %s gets %s, and on a connection of its own 200 OK",
					x.Before.Request.Operation(), x.Before.StatusLine(), x.Request.Path, x.StatusLine())
			},
		},
		{
			ID: "errors.no-5xx", Clause: "server-errors", Title: "no bad request gets 5xx",
			basic: aboutStatus, applies: func(x *exchange) bool { return x.ofPets() && !x.valid() && x.Before == nil }, wrong: (*exchange).wrongIf5xx,
		},
		{
			ID: "messages.no-5xx", Clause: "server-errors", Title: "no bad message gets 5xx",
			basic: aboutStatus, applies: func(x *exchange) bool { return x.op == opSubmit && !x.valid() }, wrong: (*exchange).wrongIf5xx,
		},
		{
			ID: "http.coding", Clause: "rfc-coding", Title: "a response is compressed only if the request accepts it",
			basic: aboutShape, applies: func(x *exchange) bool { return len(x.Body) > 0 },
			wrong: func(x *exchange) string {
				if coding := x.Coding(); coding != "" && !x.Request.Accepts(coding) {
					return fmt.Sprintf("the response has the content coding %s, which the request does not accept", coding)
				}
				return ""
			},
		},
	}
}

// veryLargeBody is the length in bytes from which on a target may drop the connection
// while the body is sent.
const veryLargeBody = 64 << 10

// cut returns how many responses were cut short.
func (h *history) cut() int {
	n := 0
	for _, x := range h.repeated {
		if x.Cut {
			n++
		}
	}
	return n
}

// ofPets reports whether x is about an operation on pets.
func (x *exchange) ofPets() bool { return x.op == opList || x.op == opGet || x.op == opCreate }

func (x *exchange) wrongIf5xx() string {
	if x.Status < 500 {
		return ""
	}
	return fmt.Sprintf("a bad request gets %s, want 4xx%s", x.StatusLine(), x.because())
}

// because says what is wrong with the body of the request, for the end of a message.
func (x *exchange) because() string {
	if x.fault == nil {
		return ""
	}
	return ": it has " + x.fault.text
}

// wrongSuccess says what is wrong if the request of x must succeed and x has another
// status than want (0: any 2xx), or if the target failed.
func (x *exchange) wrongSuccess(what string, want int) string {
	succeeded := x.Status == want || want == 0 && x.Succeeded()
	if succeeded || !x.mustSucceed() && x.Status < 500 {
		return ""
	}
	shown := "2xx"
	if want != 0 {
		shown = probe.StatusLine(want)
	}
	return fmt.Sprintf("%s: the response is %s, want %s", what, x.StatusLine(), shown)
}

// wrongType says what is wrong if x is not declared to be JSON.
func (x *exchange) wrongType() string {
	// The contract says nothing about parameters, well-formed or not.
	switch ct := x.Header.Get("Content-Type"); {
	case ct == "":
		return "the response has no Content-Type, want application/json"
	case x.mediaType() != "application/json":
		return fmt.Sprintf("the Content-Type of the response is %q, want application/json", ct)
	}
	return ""
}
