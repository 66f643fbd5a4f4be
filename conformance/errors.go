package conformance

import (
	"fmt"
	"net/http"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// The Error body of every 400, 401 and 404 of the contract (sections 2.5 and 7).

// errorSource requests the responses of one status.
type errorSource struct {
	prefix string // of the IDs
	status int
	writes bool
	what   string
	send   func(*tester) ([]*probe.Exchange, error)
}

func errorSources() []errorSource {
	return []errorSource{
		{"errors.400.", 400, true, "the 400 for a wrong body", sendWrongPets},
		{"errors.401.", 401, false, "the 401 for a request without a valid credential", sendUnauthorized},
		{"errors.404.", 404, false, "the 404 for an unknown id", sendMissing},
		{"messages.errors.400.", 400, true, "the 400 for a wrong message", sendWrongMessages},
		{"messages.errors.401.", 401, true, "the 401 for a message without a valid credential", sendUnauthorizedMessages},
	}
}

// errorChecks returns a check for each source that its responses pass test.
func errorChecks(id, title, failure string, test func(*probe.Exchange) error) []Check {
	var checks []Check
	for _, source := range errorSources() {
		checks = append(checks, Check{
			ID: source.prefix + id, Title: source.what + " " + title,
			Writes:  source.writes,
			Why:     "Clients read every error in the same way.",
			Failure: failure,
			run: func(t *tester) error {
				responses, err := source.send(t)
				if err != nil {
					return err
				}
				seen := false
				for _, x := range responses {
					if x.Status != source.status {
						continue // other checks judge the status
					}
					seen = true
					if err := test(x); err != nil {
						return err
					}
				}
				if !seen {
					return undecidedf("no response was a %d", source.status)
				}
				return nil
			},
		})
	}
	return checks
}

func sendWrongPets(t *tester) ([]*probe.Exchange, error) {
	return t.sendFaults(petFaults(), (*tester).sendWrongPet), nil
}

func sendWrongMessages(t *tester) ([]*probe.Exchange, error) {
	return t.sendFaults(messageFaults(), (*tester).sendWrongMessage), nil
}

func (t *tester) sendFaults(faults []fault, send func(*tester, fault) (refusal, error)) []*probe.Exchange {
	var responses []*probe.Exchange
	for _, f := range faults {
		if r, err := send(t, f); err == nil {
			responses = append(responses, r.x)
		}
	}
	return responses
}

func sendUnauthorized(t *tester) ([]*probe.Exchange, error) {
	operations := []operation{listOperation, getOperation}
	if !t.s.opts.ReadOnly {
		operations = append(operations, createOperation)
	}
	var responses []*probe.Exchange
	for _, op := range operations {
		for _, r := range t.unauthorized(op) {
			responses = append(responses, r.x)
		}
	}
	return responses, nil
}

func sendUnauthorizedMessages(t *tester) ([]*probe.Exchange, error) {
	var responses []*probe.Exchange
	for _, r := range t.unauthorized(submitOperation) {
		responses = append(responses, r.x)
	}
	return responses, nil
}

func sendMissing(t *tester) ([]*probe.Exchange, error) {
	if err := t.wantNotRemoved(); err != nil {
		return nil, err
	}
	x, err := t.getMissing()
	return []*probe.Exchange{x}, err
}

func errorCode(x *probe.Exchange) error    { return errorString(x, "code") }
func errorMessage(x *probe.Exchange) error { return errorString(x, "message") }

func errorString(x *probe.Exchange, member string) error {
	o, err := readObject(x)
	if err != nil {
		return err
	}
	if _, err := o.Str(member); err != nil {
		return violationf(x, "the body is not an Error: %v", err)
	}
	return nil
}

func errorStatus(x *probe.Exchange) error {
	o, err := readObject(x)
	if err != nil {
		return err
	}
	status, err := o.Int64("status")
	if err != nil {
		return violationf(x, "the body is not an Error: %v", err)
	}
	if status != int64(x.Status) {
		return violationf(x, "the status in the body is %d, want %d", status, x.Status)
	}
	return nil
}

const serverErrorWhy = "A 5xx tells the client that the server failed and to try again."

var noServerErrors = Check{
	ID: "errors.no-5xx", Title: "no bad request gets 5xx",
	Why:     serverErrorWhy,
	Failure: "A bad query, id or, unless the run is read-only, body gets 5xx, or the connection is dropped.",
	late:    true, run: func(t *tester) error {
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
		return t.wantNo5xx(requests)
	},
}

var messageNoServerErrors = Check{
	ID: "messages.no-5xx", Title: "no bad message gets 5xx", Writes: true,
	Why:     serverErrorWhy,
	Failure: "A bad body gets 5xx, or the connection is dropped.",
	run: func(t *tester) error {
		var requests []probe.Request
		for _, body := range append(badBodies(), `{"message":"\ud800"}`, `{"message":"a\u0000b"}`) {
			requests = append(requests, probe.PostMessage(body))
		}
		return t.wantNo5xx(requests)
	},
}

func (t *tester) wantNo5xx(requests []probe.Request) error {
	return t.parallel(len(requests), t.s.opts.Parallel, func(t *tester, i int) error {
		x, err := t.do(requests[i])
		if err == nil && x.Status >= http.StatusInternalServerError {
			err = t.wrongStatus(x, "4xx", "the request is bad")
		}
		return err
	})
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
