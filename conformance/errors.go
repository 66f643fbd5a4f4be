package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// The Error body of every 4xx (contract, sections 2.5 and 7).

// errorSource is a group of responses that must have an Error body. send provokes
// some of them, and applies selects them.
type errorSource struct {
	prefix  string // of the IDs
	writes  bool
	what    string // the response, in titles
	all     string // what applies selects, in messages
	send    func(*tester)
	applies func(*evidence) bool
}

func errorSources() []errorSource {
	pets := func(status int) func(*evidence) bool {
		return func(x *evidence) bool { return x.ofPets() && x.Status == status && x.isError() }
	}
	// Any other 4xx is judged as a 400.
	refused := func(x *evidence) bool {
		return x.Status != http.StatusUnauthorized && x.Status != http.StatusNotFound && x.isError()
	}
	return []errorSource{
		{"errors.400.", true, "the 400 for a wrong request", "errors other than 401 and 404",
			func(t *tester) { t.sendFaults(createOperation) }, func(x *evidence) bool { return x.ofPets() && refused(x) }},
		{"errors.401.", false, "the 401 for a request without a valid credential", "responses with 401", sendUnauthorized, pets(http.StatusUnauthorized)},
		{"errors.404.", false, "the 404 for an unknown id", "responses with 404", sendMissing, pets(http.StatusNotFound)},
		{"messages.errors.400.", true, "the 400 for a wrong message", "errors of POST /messages other than 401 and 404",
			func(t *tester) { t.sendFaults(submitOperation) }, func(x *evidence) bool { return x.isMessage() && refused(x) }},
		{"messages.errors.401.", true, "the 401 for a message without a valid credential", "responses of POST /messages with 401",
			func(t *tester) { t.unauthorized(submitOperation) },
			func(x *evidence) bool { return x.isMessage() && x.Status == http.StatusUnauthorized && x.isError() }},
	}
}

// errorMember is something that the Error bodies of all sources must have.
type errorMember struct {
	clause, id, title, failure string
	want                       func(*probe.Exchange) // ends the check if the response does not have it
}

var errorMembers = []errorMember{
	{"error-code", "code", "has a code", "The body is not a JSON object, or code is missing or not a string.", wantErrorCode},
	{"error-message", "message", "has a message", "The body is not a JSON object, or message is missing or not a string.", wantErrorMessage},
	{"error-status", "status", "repeats its HTTP status", "The body is not a JSON object, or status is missing, not an integer, or not the HTTP status.", wantErrorStatus},
	{"error-type", "media-type", "is application/json", "Another Content-Type, or none.", wantJSON},
}

// errorChecks returns a check of each member for each source.
func errorChecks() []Check {
	var checks []Check
	for _, m := range errorMembers {
		for _, source := range errorSources() {
			checks = append(checks, Check{
				ID: source.prefix + m.id, Clause: m.clause, Title: source.what + " " + m.title, Writes: source.writes,
				Why:     "Clients read every error in the same way.",
				Failure: m.failure,
				run:     source.send,
				every:   &rule{what: source.all, applies: source.applies, want: func(x *evidence) { m.want(x.Exchange) }},
			})
		}
	}
	return append(checks,
		Check{
			ID: "errors.any", Clause: "error-any", Title: "every error has an Error body",
			Why:     "Clients read every error in the same way.",
			Failure: "A 4xx for a path that the contract does not have, a petId that is not an integer, another method or a body of 1 MiB lacks a member of an Error, or is not application/json.",
			run: func(t *tester) {
				known := t.someID()
				for _, form := range []string{"/nothing-here", "/pets/abc", "/pets/ID.json", "/pets/ID/"} {
					t.observeRequest("GET "+form, probe.Get(strings.Replace(form, "ID", strconv.FormatInt(known, 10), 1)))
				}
				if !t.s.opts.ReadOnly {
					t.sendFaults(createOperation)
				}
			},
			every: &rule{what: "errors for unusual requests", mayBeIdle: true, applies: (*evidence).isOtherError, want: func(x *evidence) { wantErrorBody(x.Exchange) }},
		},
		Check{
			ID: "errors.unavailable", Clause: "error-any", Title: "a 429, 503 or 507 has an Error body",
			Why:     "Clients read every error in the same way. Not all of them send the request again.",
			Failure: "A response 429, 503 or 507 lacks a member of an Error, or is not application/json. No other check judges these responses: the suite sends most of the requests again.",
			phase:   alone, run: func(t *tester) {
				for _, x := range t.s.client.Exchanges() {
					if !slices.Contains([]int{429, 503, 507}, x.Status) || x.Request.Method == http.MethodHead {
						continue
					}
					e := attempt(func() { wantErrorBody(x) })
					if e != nil {
						e.verdict = Fail // whether or not the target asks to wait
					}
					e.end()
				}
			},
		},
		Check{
			ID: "errors.json", Clause: "error-type", Title: "the body of an error in application/json is JSON",
			Why:     "A client cannot read an error that repeats a quotation mark of the request without escaping it.",
			Failure: "A 4xx or 5xx is application/json, and its body is not JSON. The check sends filters and bodies with quotation marks and backslashes, and judges every error of the run.",
			run: func(t *tester) {
				var requests []probe.Request
				for _, path := range []string{"/pets?status=a%22b", "/pets?status=a%5Cc", "/pets?limit=%22", "/pets/%22"} {
					requests = append(requests, probe.Get(path))
				}
				if !t.s.opts.ReadOnly {
					for _, body := range []string{`{"name":"a\"b\\c"}`, `{"name":"a","categoryId":"a\"b\\c"}`, `{"name":"a","categoryId":1,"status":"a\"b\\c"}`} {
						requests = append(requests, probe.Post("/pets", body))
					}
				}
				if !t.s.opts.ReadOnly && t.s.target.MessagesURL != "" {
					requests = append(requests, probe.PostMessage(`{"a\"b\\c":1}`))
				}
				t.sendAll(requests)
			},
			every: &rule{what: "errors in JSON", mayBeIdle: true,
				applies: func(x *evidence) bool {
					return x.Status >= 400 && len(x.Body) > 0 && attempt(x.wantJSON) == nil
				},
				want: func(x *evidence) {
					if _, err := x.JSON(); err != nil {
						fail(x.Exchange, "%v", err)
					}
				}},
		})
}

func sendUnauthorized(t *tester) {
	t.unauthorized(listOperation)
	t.unauthorized(getOperation)
	if !t.s.opts.ReadOnly {
		t.unauthorized(createOperation)
	}
}

func sendMissing(t *tester) {
	t.wantNotRemoved()
	t.getMissing()
}

// wantErrorBody ends the check if the body of x is not an Error.
func wantErrorBody(x *probe.Exchange) {
	for _, m := range errorMembers {
		m.want(x)
	}
}

func wantErrorCode(x *probe.Exchange)    { readString(x, "code", "an Error") }
func wantErrorMessage(x *probe.Exchange) { readString(x, "message", "an Error") }

func wantErrorStatus(x *probe.Exchange) {
	if status := read(x, "an Error", memberOf("status", probe.Object.Int64)); status != int64(x.Status) {
		fail(x, "the status in the body is %d, want %d", status, x.Status)
	}
}

const serverErrorWhy = "A 5xx tells the client that the server failed and to try again."

var serverErrorChecks = []Check{
	{
		ID: "errors.no-5xx", Clause: "server-errors", Title: "no bad request gets 5xx",
		Why:     serverErrorWhy,
		Failure: "A bad query, id or, unless the run is read-only, body gets 5xx, or the connection is dropped.",
		phase:   late, run: func(t *tester) {
			// None of the requests looks like an attack, because a guard in front
			// of the target could refuse the rest of the run.
			var requests []probe.Request
			for _, q := range []string{
				"limit=0", "limit=-1", "limit=101", "limit=9223372036854775807", "limit=9223372036854775808", "limit=1e9", "limit=abc", "limit=", "limit=%00", "limit=1&limit=2",
				"status=lost", "status=", "status=%00", "status=%FF", "status=sold&status=pending", "status='", "status[]=sold", "status=" + strings.Repeat("a", 2000),
				"%zz", "=", "&&", "cursor=x", "offset=-1", "page=-1",
			} {
				requests = append(requests, probe.Get("/pets?"+q))
			}
			for _, id := range []string{
				"abc", "-", "1.5", "1e9", "%00", "%FF", "%27", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "%F0%9F%A6%8A", "null", "undefined", "NaN", "%7B%7D",
			} {
				requests = append(requests, probe.Get("/pets/"+id))
			}
			if !t.s.opts.ReadOnly {
				for _, body := range badBodies() {
					requests = append(requests, probe.Post("/pets", body))
				}
			}
			t.sendAll(requests)
		},
		every: &rule{what: "bad requests", applies: func(x *evidence) bool { return x.ofPets() && !x.isValid() }, want: (*evidence).wantNo5xx},
	},
	{
		ID: "messages.no-5xx", Clause: "server-errors", Title: "no bad message gets 5xx", Writes: true,
		Why:     serverErrorWhy,
		Failure: "A bad body gets 5xx, or the connection is dropped.",
		run: func(t *tester) {
			var requests []probe.Request
			for _, body := range append(badBodies(), `{"message":"\ud800"}`, `{"message":"a\u0000b"}`) {
				requests = append(requests, probe.PostMessage(body))
			}
			t.sendAll(requests)
		},
		every: &rule{what: "bad messages", applies: func(x *evidence) bool { return x.isMessage() && !x.isValid() }, want: (*evidence).wantNo5xx},
	},
}

func (t *tester) sendAll(requests []probe.Request) {
	t.parallel(len(requests), t.s.opts.Parallel, func(t *tester, i int) { t.do(requests[i]) })
}

func (x *evidence) wantNo5xx() {
	if x.serverFailed() {
		failStatus(x.Exchange, "the request is bad", "4xx")
	}
}

// badBodies returns bodies that often make servers fail. None is a NewPet.
func badBodies() []string {
	many := make([]string, 500)
	for i := range many {
		many[i] = fmt.Sprintf(`"m%d":0`, i)
	}
	return []string{
		"", " ", "\x00", "\xff\xfe", "{", "}", "[", "]", `"`, "nul", "-", "01", "{}", "[]", "null", "0", `""`,
		`{"name":`, `{"name":"a","categoryId":}`, `{"":""}`, `{"name":"\u`, `{"name":"\ud800`,
		`{"name":{},"categoryId":[]}`, `{"name":[],"categoryId":{}}`,
		`{"name":null,"categoryId":null,"status":null}`,
		`{"categoryId":1e400}`, `{"categoryId":-1e400}`, `{"categoryId":` + strings.Repeat("9", 500) + `}`,
		`{"__proto__":{"name":"a"},"categoryId":1}`, `{"constructor":null}`,
		strings.Repeat("[", 500) + strings.Repeat("]", 500),
		strings.Repeat(`{"name":`, 200) + "1" + strings.Repeat("}", 200),
		`{` + strings.Join(many, ",") + `}`,
	}
}
