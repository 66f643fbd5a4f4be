package conformance

import (
	"fmt"
	"mime"
	"net/http"
	"slices"

	"example.com/animalstore/conformance/internal/probe"
)

// What every response is judged by, and what HTTP says.

func responseChecks() []Check {
	return []Check{
		{
			ID: "http.response", Section: "4", Title: "every request gets a response, the whole of it",
			Why:        "A client that gets half a response, or none, does not know whether a pet was added.",
			ofUnserved: true, applies: func(x *exchange) bool { return true }, wrong: (*exchange).wrongNoResponse,
		},
		{
			ID: "errors.no-5xx", Section: "4, 7", Title: "no bad request gets 5xx", Why: mayFail,
			applies: func(x *exchange) bool {
				return x.ofPets() && !x.valid() && !x.hasBadKey() && x.intent.FailsCheck != surrogateCheck
			},
			wrong: (*exchange).wrongIf5xx,
		},
		{
			ID: "messages.no-5xx", Section: "4, 7", Title: "no bad message gets 5xx", Why: mayFail,
			applies: func(x *exchange) bool { return x.op == probe.SubmitMessage && !x.valid() && !x.hasBadKey() },
			wrong:   (*exchange).wrongIf5xx,
		},
		{
			ID: "http.coding", Section: "RFC 9110, 12.5.3",
			Title: "a response is compressed only if the request accepts it", Level: Recommended,
			Why:     "Clients without a decompressor cannot read it.",
			applies: func(x *exchange) bool { return len(x.Body) > 0 },
			wrong: func(x *exchange) string {
				if coding := x.Coding(); coding != "" && !x.Request.Accepts(coding) {
					return fmt.Sprintf("the response has the content coding %s, which the request does not accept", coding)
				}
				return ""
			},
		},
		refusalCheck("http.media-type.case", "RFC 9110, 8.3.1", "the media type of a request has no case",
			"Some clients write Application/JSON."),
		refusalCheck("http.chunked", "RFC 9112, 7.1", "a body in chunks is accepted, or gets 411",
			"Clients that do not know the length of a body send it so."),
		refusalCheck("http.expect", "RFC 9110, 10.1.1", "a request with Expect: 100-continue is accepted",
			"Some clients send it with every large body."),
	}
}

// refusalCheck returns the check whose warning is the refusal of a request that only an RFC asks
// a target to accept.
func refusalCheck(id, section, title, why string) Check {
	return Check{
		ID: id, Section: section, Title: title, Why: why, Level: Recommended, ofUnserved: true,
		applies: func(x *exchange) bool { return x.intent.WarnsCheck == id && !x.SentAgain && !x.Unavailable() },
		wrong: func(x *exchange) string {
			if x.Succeeded() || id == "http.chunked" && x.Status == http.StatusLengthRequired {
				return ""
			}
			return fmt.Sprintf("the request is valid and has %s: got %s, want 2xx", x.intent.Unusual, x.Failure())
		},
	}
}

// veryLargeBody is the length in bytes from which on a target may drop the connection
// while the body is sent.
const veryLargeBody = 64 << 10

// wrongNoResponse says what is wrong if the request of x never got a response, or only a part of
// one, although it was sent several times and the target served others.
func (x *exchange) wrongNoResponse() string {
	tried := x.Attempt > 1 && !x.SentAgain
	if x.Status != 0 || !tried || !x.run.servedAfter(x) || x.mayBeLost() || probe.IsUnreachable(x.Err) {
		return ""
	}
	return fmt.Sprintf("the request was sent %d times and got no response, while others did: %v", x.Attempt, x.Err)
}

// mayBeLost reports whether the target need not respond to the request of x.
func (x *exchange) mayBeLost() bool {
	return len(x.Request.Body) > veryLargeBody || x.intent.MayRefuse == probe.WithAnything
}

// servedAfter reports whether the target served a request after x.
func (h *history) servedAfter(x *exchange) bool {
	return slices.ContainsFunc(h.all, func(y *exchange) bool { return y.Sent.After(x.Received) })
}

func (x *exchange) wrongIf5xx() string {
	if x.Status < 500 {
		return ""
	}
	return fmt.Sprintf("an unusual request (%s) gets %s, want no 5xx", x.kind(), x.StatusLine())
}

// wrongSuccess says what is wrong if the request of x, a valid one, has another status than
// want (0: any 2xx) and is not refused as it may be.
func (x *exchange) wrongSuccess(what string, want int) string {
	if x.Status == want || want == 0 && x.Succeeded() || x.mayRefuse() {
		return ""
	}
	shown := "2xx"
	if want != 0 {
		shown = probe.StatusLine(want)
	}
	if x.intent.Unusual != "" {
		what += " (it has " + x.intent.Unusual + ")"
	}
	return fmt.Sprintf("%s: the response is %s, want %s", what, x.StatusLine(), shown)
}

// wrongField says what is wrong with a header field of x, unless it is right.
func wrongField(x *exchange, name string, right bool, want string) string {
	switch v := x.Header.Get(name); {
	case right:
		return ""
	case v == "":
		return name + " is missing, want " + want
	default:
		return fmt.Sprintf("%s is %q, want %s", name, v, want)
	}
}

// mediaType returns the media type of the response, without parameters: the contract says
// nothing about those.
func (x *exchange) mediaType() string {
	media, _, _ := mime.ParseMediaType(x.Header.Get("Content-Type"))
	return media
}

// wrongType says what is wrong if x is not declared to be JSON.
func (x *exchange) wrongType() string {
	return wrongField(x, "Content-Type", x.mediaType() == "application/json", "application/json")
}
