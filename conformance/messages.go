package conformance

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// POST /messages with a valid message (contract, sections 2.7 and 4.4).

// messageBody returns the body that submits text.
func messageBody(text string) string { return fmt.Sprintf(`{"message":%s}`, quoteJSON(text)) }

var messageChecks = []Check{
	{
		ID: "messages.status", Clause: "submit", Title: "POST /messages accepts a valid message", Writes: true,
		Why:     "It is the purpose of the operation.",
		Failure: "Another status than 2xx for a body with a message, a valid key and a Content-Type. The contract does not say which 2xx.",
		run:     func(t *tester) { t.wantAccepted(t.submission()) },
		every: &rule{what: "valid messages", applies: func(x *evidence) bool { return x.text != nil && x.isValid() },
			want: func(x *evidence) { x.wantSuccess("a valid message is submitted", "2xx") }},
	},
	{
		ID: "messages.id.unique", Clause: "message-id", Title: "every message has its own id", Writes: true,
		Why:     "An id that two messages have identifies neither.",
		Failure: "Two messages of the run with different texts get the same id.",
		run: func(t *tester) {
			const n = 8
			t.parallel(n, n, func(t *tester, _ int) { t.do(messageRequest(t, `{"message":$N}`)) })
		},
		every: &rule{what: "messages that were submitted", applies: (*evidence).isRecord, want: func(x *evidence) {
			if x.twin != nil && x.twin.isRecord() && *x.twin.text != *x.text {
				fail(x.Exchange, "another message of this run has the same id")
			}
		}},
	},
	{
		ID: "messages.id.same-text", Clause: "message-again", Title: "messages with the same text have ids of their own", Writes: true,
		Why:     "Who submits a text twice may mean two messages.",
		Failure: "Two messages that have the same text and were submitted concurrently get the same id.",
		run: func(t *tester) {
			const n = 8
			text := t.name()
			t.parallel(n, n, func(t *tester, _ int) { t.do(probe.PostMessage(messageBody(text))) })
		},
		every: &rule{what: "messages that were submitted", applies: (*evidence).isRecord, want: func(x *evidence) {
			if x.twin != nil && x.twin.isRecord() && *x.twin.text == *x.text {
				fail(x.Exchange, "another message of this run has the same text and the same id")
			}
		}},
	},
	{
		ID: "messages.members", Clause: "message-text", Title: "members that the contract does not name do not change the text", Writes: true,
		Why:     "Clients send what a newer or another server knows. Member names are case-sensitive.",
		Failure: "The record has another text, from Message or text. A target may refuse such a body.",
		run: func(t *tester) {
			x := t.do(messageRequest(t, `{"text":"another","message":$N,"Message":"another"}`))
			if !x.Refused() {
				t.wantText(x)
			}
		},
	},
	{
		ID: "messages.members.status", Clause: "message-status", Title: "a client does not set the status of its message", Writes: true,
		Why:     "A server that copies every member of the body into the record says what the client said.",
		Failure: "The record has the status of the body. A target may refuse such a body.",
		run: func(t *tester) {
			x := t.do(messageRequest(t, `{"message":$N,"status":"delivered"}`))
			o, _ := x.Object()
			if got, _ := o.Str("status"); got == "delivered" && x.Succeeded() {
				fail(x, "the status is the one that the client sent, want queued")
			}
		},
	},
	recordCheck("message-id", "id", "id", "the message record has an id, a string",
		"A client refers to its message by it.",
		"The id is missing or not a string.",
		func(*evidence, string) {}),
	recordCheck("message-text", "echo", "message", "the message record repeats the text",
		"A client sees what was understood.",
		"The member message is missing, not a string, or another text.",
		func(x *evidence, got string) {
			if got != *x.text {
				fail(x.Exchange, "the text is %q, want %q", probe.Short(got), probe.Short(*x.text))
			}
		}),
	recordCheck("message-status", "queued", "status", "the status of the message record is queued",
		"A client must not mistake a message that waits for one that was processed.",
		"The status is missing, not a string, or another one.",
		func(x *evidence, got string) {
			if got != "queued" {
				fail(x.Exchange, "the status is %q, want queued", probe.Short(got))
			}
		}),
	recordCheck("message-time", "time", "createdAt", "createdAt is an ISO 8601 timestamp in UTC",
		"Clients sort messages by it.",
		"createdAt is missing, not a string, not a timestamp of ISO 8601, or does not say UTC (Z or +00:00).",
		func(x *evidence, got string) {
			if _, err := parseTimestamp(got); err != nil {
				fail(x.Exchange, "createdAt %v", err)
			}
		}),
	recordCheck("message-time", "time.now", "createdAt", "createdAt is the time at which the message was created",
		"Clients sort messages by it.",
		"createdAt is more than ten minutes away from the Date of the response and from the clock of the suite, or, without a Date, more than 25 hours from the latter.",
		func(x *evidence, got string) {
			at, err := parseTimestamp(got)
			if err != nil {
				inconclusive("createdAt cannot be read")
			}
			near := func(t time.Time, d time.Duration) bool { return at.Sub(t).Abs() <= d }
			date, err := http.ParseTime(x.Header.Get("Date"))
			switch {
			case err == nil && !near(date, 10*time.Minute) && !near(x.Sent, 10*time.Minute):
				fail(x.Exchange, "createdAt is %q in a response of %s", got, date.UTC().Format(time.RFC3339))
			case err != nil && !near(x.Sent, 25*time.Hour): // the suite's own clock may be wrong
				fail(x.Exchange, "createdAt is %q in a response that came at %s", got, x.Sent.UTC().Format(time.RFC3339))
			}
		}),
}

// recordCheck returns a check of a member of the message record, which must be a
// string.
func recordCheck(clause, id, member, title, why, failure string, test func(x *evidence, got string)) Check {
	return Check{
		ID: "messages." + id, Clause: clause, Title: title, Writes: true, Why: why, Failure: failure,
		run: func(t *tester) { need("no message could be submitted", t.submission) },
		every: &rule{what: "messages that were submitted", applies: (*evidence).isRecord, want: func(x *evidence) {
			test(x, readString(x.Exchange, member, "a message record"))
		}},
	}
}

// submission returns the response to a message, which is sent once for all checks.
func (t *tester) submission() *probe.Exchange {
	return share(t, "submission", func(t *tester) *probe.Exchange { return t.do(messageRequest(t, `{"message":$N}`)) })
}

// textChecks are about the text of a message.
func textChecks() []Check {
	return checksOf(textKinds(), func(k textKind) Check {
		return Check{
			ID: "messages.text." + k.id, Clause: "message-text", Title: "a text " + k.what + " is repeated exactly", Writes: true,
			Why:     "A client sees what was understood.",
			Failure: "The record has another text" + k.orRefused("the message"),
			run: func(t *tester) {
				t.sendTexts(k, func(text string) *probe.Exchange { return t.do(probe.PostMessage(messageBody(text))) }, t.wantText)
			},
		}
	})
}

func (t *tester) wantAccepted(x *probe.Exchange) {
	if !x.Succeeded() {
		t.wrongStatus(x, "2xx", "a valid message is submitted")
	}
}

// wantText ends the check if x does not have the record of the valid message that was
// sent.
func (t *tester) wantText(x *probe.Exchange) {
	t.wantAccepted(x)
	if readString(x, "message", "a message record") != *validText(x.Request) {
		fail(x, "the record does not repeat the text that was submitted")
	}
}

var timestamp = regexp.MustCompile(`^(\d{4}-\d\d-\d\d|\d{8})T(\d\d):?(\d\d)(?::?(\d\d)(?:[.,]\d+)?)?(Z|[+-]\d\d(?::?\d\d)?)?$`)

// parseTimestamp reads an ISO 8601 date and time in UTC, in the extended or the
// basic format, with or without seconds and a fraction.
func parseTimestamp(s string) (time.Time, error) {
	m := timestamp.FindStringSubmatch(strings.ToUpper(s))
	if m == nil {
		return time.Time{}, fmt.Errorf("is %q, not a timestamp of ISO 8601 in UTC", probe.Short(s))
	}
	date, clock, seconds, zone := strings.ReplaceAll(m[1], "-", ""), m[2]+m[3], m[4], m[5]
	if zone == "" {
		return time.Time{}, fmt.Errorf("is %q, without Z or an offset: that is local time", probe.Short(s))
	}
	if strings.Trim(zone, "Z+-:0") != "" {
		return time.Time{}, fmt.Errorf("is %q, whose offset is not UTC", probe.Short(s))
	}
	if seconds == "" || seconds == "60" { // a leap second
		seconds = "59"
	}
	at, err := time.Parse("20060102150405", date+clock+seconds)
	if err != nil {
		return at, fmt.Errorf("is %q, a day or time that does not exist", probe.Short(s))
	}
	return at, nil
}

// aWhile is how long the run waits for what changes with time. It is more than a
// second, since some targets have times to the second.
const aWhile = 1100 * time.Millisecond

var timeChecks = []Check{
	{
		ID: "messages.time.passes", Clause: "message-time", Title: "a later message has a later createdAt", Writes: true,
		Why:     "Clients sort messages by it.",
		Failure: "Each of three messages, sent more than a second after the previous one, has the same createdAt (unless times are to the minute), an earlier one, or one that is more than a minute too late.",
		phase:   late, slow: true, run: func(t *tester) {
			before := need("no message could be submitted", t.submission)
			var e *ending
			for range 3 { // the clocks of several servers may differ, and a clock may be corrected
				t.sleepUntil(before.Received.Add(aWhile))
				later := t.do(messageRequest(t, `{"message":$N}`))
				if e = attempt(func() { wantLater(before, later) }); e == nil {
					return
				}
				before = later
			}
			e.end()
		},
	},
}

// sleepUntil waits until a time, or until the run is stopped.
func (t *tester) sleepUntil(at time.Time) { wait(t.ctx, time.Until(at)) }

// wantLater ends the check if the createdAt of a message is not after that of an
// earlier one.
func wantLater(earlier, later *probe.Exchange) {
	before, a := readTime(earlier)
	after, b := readTime(later)
	switch gap := later.Received.Sub(earlier.Sent); {
	case after == before && timestamp.FindStringSubmatch(strings.ToUpper(after))[4] != "":
		fail(later, "createdAt is still %q, %.1f seconds after an earlier message", after, gap.Seconds())
	case b.Before(a):
		fail(later, "createdAt is %q, before the %q of an earlier message", after, before)
	case b.Sub(a) > gap+time.Minute:
		fail(later, "createdAt is %q, but %q in a message that was sent %.1f seconds earlier", after, before, gap.Seconds())
	}
}

// readTime returns the createdAt of a message for a check of what it means.
func readTime(x *probe.Exchange) (string, time.Time) {
	if !x.Succeeded() {
		inconclusive("a message gets %s", x.StatusLine())
	}
	text := need("the record cannot be read", func() string { return readString(x, "createdAt", "a message record") })
	at, err := parseTimestamp(text)
	if err != nil {
		inconclusive("createdAt cannot be read")
	}
	return text, at
}
