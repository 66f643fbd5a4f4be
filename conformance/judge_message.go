package conformance

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// POST /messages (contract, sections 2.7 and 4.4).

func messageChecks() []Check {
	// isString returns the check that the record has a member, a string.
	isString := func(id, title, name string) Check {
		return Check{
			ID: id, Section: "2.7", Title: title, Why: typed,
			applies: (*exchange).isRecord,
			wrong: func(x *exchange) string {
				if _, err := x.member(name); err != nil {
					return "the body is not a message record: " + err.Error()
				}
				return ""
			},
		}
	}
	// of completes the check c of a member that is a string.
	of := func(name string, c Check, wrong func(x *exchange, got string) string) Check {
		c.applies = func(x *exchange) bool {
			_, err := x.member(name)
			return x.isRecord() && err == nil
		}
		c.wrong = func(x *exchange) string {
			got, _ := x.member(name)
			return wrong(x, got)
		}
		return c
	}
	checks := []Check{
		{
			ID: "messages.status", Section: "1, 4.4", Title: "POST /messages accepts a valid message",
			Why:     "It is the purpose of the operation.",
			applies: func(x *exchange) bool { return x.intent.Text != nil && x.valid() },
			wrong:   func(x *exchange) string { return x.wrongSuccess("a valid message is submitted", 0) },
		},
		isString("messages.id", "the message record has an id, a string", "id"),
		isString("messages.text", "the message record has a message, a string", "message"),
		isString("messages.status-type", "the message record has a status, a string", "status"),
		{
			ID: "messages.time", Section: "2.7", Title: "createdAt is an ISO 8601 timestamp in UTC",
			Why:     "Clients sort messages by it.",
			applies: (*exchange).isRecord,
			wrong: func(x *exchange) string {
				got, err := x.member("createdAt")
				if err != nil {
					return "the body is not a message record: " + err.Error()
				}
				if _, err := parseTimestamp(got); err != nil && !otherForm.MatchString(got) {
					return "createdAt " + err.Error()
				}
				return ""
			},
		},
		of("createdAt", Check{
			ID: "messages.time.rfc3339", Section: "2.7", Title: "createdAt is a timestamp of RFC 3339", Level: Recommended,
			Why: "Few clients can read the other forms of ISO 8601.",
		}, func(_ *exchange, got string) string {
			if _, err := parseTimestamp(got); err != nil && otherForm.MatchString(got) {
				return fmt.Sprintf("createdAt is %q, not written as in 2026-11-23T10:20:00Z", probe.Short(got))
			}
			return ""
		}),
		of("message", Check{
			ID: "messages.echo", Section: "2.7", Title: "the message record repeats the text",
			Why: "A client sees what was understood.",
		}, func(x *exchange, got string) string {
			if got != *x.intent.Text {
				return "the text is " + probe.Different(got, *x.intent.Text)
			}
			return ""
		}),
		of("status", Check{
			ID: "messages.queued", Section: "1, 2.7, 3.2, 4.4", Title: "the status of the message record is queued", Level: Recommended,
			Why: "A client must not mistake a message that waits for one that was processed.",
		}, func(_ *exchange, got string) string {
			if got != "queued" {
				return fmt.Sprintf("the status is %q, want queued", probe.Short(got))
			}
			return ""
		}),
		of("createdAt", Check{
			ID: "messages.time.now", Section: "2.7", Title: "createdAt is the time at which the message was created",
			Why: "Clients sort messages by it.",
		}, (*exchange).wrongNow),
		{
			ID: "messages.time.passes", Section: "2.7", Title: "the createdAt of a later message is not an earlier time",
			Why:        "Clients sort messages by it.",
			applies:    func(x *exchange) bool { return !x.createdAt.IsZero() },
			wrongAfter: (*exchange).wrongOrder,
		},
		idCheck("messages.id.unique", "every message has its own id",
			"An id that two messages have identifies neither.", false),
		idCheck("messages.id.same-text", "messages with the same text have ids of their own",
			"Who submits a text twice may mean two messages.", true),
		{
			ID: "messages.form", Section: "4.4", Title: "a message as a form is refused", Level: Recommended,
			Why:     mistake,
			applies: func(x *exchange) bool { return x.intent.FailsCheck == "messages.form" },
			wrong: func(x *exchange) string {
				if x.Refused() {
					return ""
				}
				return fmt.Sprintf("the request has %s: the response is %s, want 4xx", x.intent.Unusual, x.StatusLine())
			},
		},
	}
	for _, f := range []struct {
		id, section, title, why string
		level                   Level
	}{
		{"body", "4.4, 7", "a message in a body that is missing or not a JSON object gets 400", mistake, Required},
		{"required", "4.4, 7", "a body without the string message gets 400", mistake, Required},
		{"content-type", "4.4", "a message without a Content-Type gets 400", "The contract says so.", Required},
		{"duplicate", "RFC 8259, 4", "a message in a body with a name twice gets 400", "Two readers of the same body may read two messages.", Recommended},
		{"utf8", "RFC 8259, 8.1", "a message in a body that is not UTF-8 gets 400", keptExactly, Recommended},
	} {
		checks = append(checks, faultCheck("messages.400."+f.id, f.section, f.title, f.why, f.level))
	}
	return checks
}

// idCheck returns the check that no two messages have the same id; they have the same text
// or not.
func idCheck(id, title, why string, sameText bool) Check {
	level := Required
	if sameText {
		level = Recommended
	}
	return Check{
		ID: id, Section: "2.7", Title: title, Why: why, Level: level, applies: (*exchange).isRecord,
		wrongAfter: func(x *exchange) (*exchange, string) {
			for _, y := range x.run.all {
				if y == x || x.recordID == "" {
					break
				}
				if y.recordID == x.recordID && (*y.intent.Text == *x.intent.Text) == sameText {
					return y, "another message of this run has the same id"
				}
			}
			return nil, ""
		},
	}
}

// otherForm matches the forms of ISO 8601 beside RFC 3339 for a time in UTC.
var otherForm = regexp.MustCompile(`(?i)^([+-]\d\d)?\d{4}-?((0[1-9]|1[0-2])-?([0-2]\d|3[01])|W[0-5]\d-?[1-7]|[0-3]\d\d)T([01]\d|2[0-4])(:?[0-5]\d(:?([0-5]\d|60))?)?([.,]\d+)?(Z|[+-]00(:?00)?)$`)

// parseTimestamp reads a timestamp of RFC 3339 in UTC. As time.Parse does, it allows a comma
// before the fraction.
func parseTimestamp(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, strings.ToUpper(s))
	_, offset := t.Zone()
	switch {
	case err != nil:
		return time.Time{}, fmt.Errorf("is %q, not a timestamp of ISO 8601 in UTC, as 2026-11-23T10:20:00Z is", probe.Short(s))
	case offset != 0:
		return time.Time{}, fmt.Errorf("is %q, whose offset is not UTC", probe.Short(s))
	}
	return t, nil
}

// wrongNow says what is wrong if got is far from the time of x.
func (x *exchange) wrongNow(got string) string {
	at, err := parseTimestamp(got)
	if err != nil {
		return ""
	}
	near := func(t time.Time, d time.Duration) bool { return at.Sub(t).Abs() <= d }
	date, err := http.ParseTime(x.Header.Get("Date"))
	switch {
	case err == nil && !near(date, 10*time.Minute) && !near(x.Sent, 10*time.Minute):
		return fmt.Sprintf("createdAt is %q in a response of %s", got, date.UTC().Format(time.RFC3339))
	case err != nil && !near(x.Sent, 25*time.Hour): // the suite's own clock may be wrong
		return fmt.Sprintf("createdAt is %q in a response that came at %s", got, x.Sent.UTC().Format(time.RFC3339))
	}
	return ""
}

// wrongOrder says what is wrong if the createdAt of x is more than a second before that of an
// earlier message, which it returns: the clocks of several servers may differ a little.
func (x *exchange) wrongOrder() (earlier *exchange, wrong string) {
	for _, y := range x.run.all {
		if y.Received.Before(x.Sent) && y.createdAt.Sub(x.createdAt) > time.Second {
			return y, fmt.Sprintf("createdAt is %s, and that of an earlier message is %s",
				x.createdAt.Format(time.RFC3339Nano), y.createdAt.Format(time.RFC3339Nano))
		}
	}
	return nil, ""
}
