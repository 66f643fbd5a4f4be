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

var messageAccepted = Check{
	ID: "messages.status", Title: "POST /messages accepts a valid message", Writes: true,
	Why:     "It is the purpose of the operation.",
	Failure: "Another status than 2xx for a body with a message, a valid key and a Content-Type. The contract does not say which 2xx.",
	run: func(t *tester) error {
		s, err := t.submission()
		if err != nil {
			return err
		}
		return t.wantAccepted(s.x)
	},
}

var messageID = recordCheck("id", "id", "the message record has an id, a string",
	"A client refers to its message by it.",
	"The id is missing or not a string.",
	func(submission, string) error { return nil })

var messageEcho = recordCheck("echo", "message", "the message record repeats the text",
	"A client sees what was understood.",
	"The member message is missing, not a string, or another text.",
	func(s submission, got string) error {
		if got != s.text {
			return violationf(s.x, "the text is %q, want %q", probe.Short(got), s.text)
		}
		return nil
	})

var messageQueued = recordCheck("queued", "status", "the status of the message record is queued",
	"A client must not mistake a message that waits for one that was processed.",
	"The status is missing, not a string, or another one.",
	func(s submission, got string) error {
		if got != "queued" {
			return violationf(s.x, "the status is %q, want queued", probe.Short(got))
		}
		return nil
	})

var messageTime = recordCheck("time", "createdAt", "createdAt is an ISO 8601 timestamp in UTC",
	"Clients sort messages by it.",
	"createdAt is missing, not a string, not a timestamp of ISO 8601, or does not say UTC (Z or +00:00).",
	func(s submission, got string) error {
		if _, err := parseTimestamp(got); err != nil {
			return violationf(s.x, "createdAt %v", err)
		}
		return nil
	})

var messageNow = recordCheck("time.now", "createdAt", "createdAt is the time at which the message was created",
	"Clients sort messages by it.",
	"createdAt is more than ten minutes away from the Date of the response and from the clock of the suite, or, without a Date, more than 25 hours from the latter.",
	func(s submission, got string) error {
		at, err := parseTimestamp(got)
		if err != nil {
			return undecidedf("createdAt cannot be read")
		}
		near := func(t time.Time, d time.Duration) bool { return at.Sub(t).Abs() <= d }
		date, err := http.ParseTime(s.x.Header.Get("Date"))
		switch {
		case err == nil && !near(date, 10*time.Minute) && !near(s.x.Sent, 10*time.Minute):
			return violationf(s.x, "createdAt is %q in a response of %s", got, date.UTC().Format(time.RFC3339))
		case err != nil && !near(s.x.Sent, 25*time.Hour): // the suite's own clock may be wrong
			return violationf(s.x, "createdAt is %q in a response that came at %s", got, s.x.Sent.UTC().Format(time.RFC3339))
		}
		return nil
	})

// recordCheck returns a check of a member of the message record, which must be a
// string.
func recordCheck(id, member, title, why, failure string, test func(s submission, got string) error) Check {
	return Check{
		ID: "messages." + id, Title: title, Writes: true, Why: why, Failure: failure,
		run: func(t *tester) error {
			s, err := t.submission()
			if err != nil {
				return asUndecided(err, "no message could be submitted")
			}
			if !s.x.Succeeded() {
				return undecidedf("a message gets %s", s.x.StatusLine())
			}
			o, err := readObject(s.x)
			if err != nil {
				return err
			}
			got, err := o.Str(member)
			if err != nil {
				return violationf(s.x, "the body is not a message record: %v", err)
			}
			return test(s, got)
		},
	}
}

// submission is a text that was submitted, and the response.
type submission struct {
	text string
	x    *probe.Exchange
}

// submission submits a text, once for all checks.
func (t *tester) submission() (submission, error) {
	return share(t, "submission", func(t *tester) (submission, error) {
		text := t.name()
		x, err := t.do(probe.PostMessage(messageBody(text)))
		return submission{text, x}, err
	})
}

var messageIDs = Check{
	ID: "messages.id.unique", Title: "every message has its own id", Writes: true,
	Why:     "An id that two messages have identifies neither.",
	Failure: "Two messages with the same text, submitted concurrently, get the same id.",
	run: func(t *tester) error {
		const n = 8
		text := t.name()
		ids := make([]string, n)
		xs := make([]*probe.Exchange, n)
		err := t.parallel(n, n, func(t *tester, i int) error {
			x, err := t.do(probe.PostMessage(messageBody(text)))
			if err != nil {
				return err
			}
			if !x.Succeeded() {
				return undecidedf("a message gets %s", x.StatusLine())
			}
			o, err := readObject(x)
			if err != nil {
				return asUndecided(err, "the record cannot be read")
			}
			v, err := o.Member("id")
			if err != nil {
				return undecidedf("the record cannot be read: %v", err)
			}
			ids[i], xs[i] = string(v), x
			return nil
		})
		if err != nil {
			return err
		}
		seen := make(map[string]bool)
		for i, id := range ids {
			if seen[id] {
				return violationf(xs[i], "two of %d messages have the id %s", n, probe.Short(id))
			}
			seen[id] = true
		}
		return nil
	},
}

// textChecks are about the text of a message.
func textChecks() []Check {
	var checks []Check
	for _, k := range textKinds() {
		switch k.id {
		case "quotes", "markup", "combining", "astral", "ends", "nul", "long":
			checks = append(checks, Check{
				ID: "messages.text." + k.id, Title: "a text " + k.what + " is repeated exactly", Writes: true,
				Why:     "A client sees what was understood.",
				Failure: "The record has another text. Inconclusive if the text gets 4xx and the target may refuse it.",
				run: func(t *tester) error {
					text := k.text(t.name())
					x, err := t.do(probe.PostMessage(messageBody(text)))
					if err != nil {
						return err
					}
					if k.mayRefuse != "" && x.Refused() {
						return undecidedf("the target refuses the text with %s: %s", x.StatusLine(), k.mayRefuse)
					}
					return t.wantText(x, text)
				},
			})
		}
	}
	return checks
}

func (t *tester) wantAccepted(x *probe.Exchange) error {
	if !x.Succeeded() {
		return t.wrongStatus(x, "2xx", "a valid message is submitted")
	}
	return nil
}

// wantText returns an error if x does not have the record of a message with that
// text.
func (t *tester) wantText(x *probe.Exchange, text string) error {
	if err := t.wantAccepted(x); err != nil {
		return err
	}
	o, err := readObject(x)
	if err != nil {
		return err
	}
	if got, err := o.Str("message"); err != nil || got != text {
		return violationf(x, "the record does not repeat the text that was submitted")
	}
	return nil
}

var (
	timestamp   = regexp.MustCompile(`^(\d{4})(-?)(\d{2})(-?)(\d{2})[Tt](\d{2}):?(\d{2})(?::?(\d{2})(?:[.,]\d+)?)?([Zz]|[+-]00(?::?00)?)?$`)
	otherOffset = regexp.MustCompile(`[+-]\d{2}:?\d{2}$`)
)

// parseTimestamp reads an ISO 8601 date and time in UTC, in the extended or the
// basic format, with or without seconds and a fraction.
func parseTimestamp(s string) (time.Time, error) {
	m := timestamp.FindStringSubmatch(s)
	switch {
	case m == nil || m[2] != m[4]:
		if otherOffset.MatchString(s) && !strings.HasSuffix(s, "00:00") {
			return time.Time{}, fmt.Errorf("is %q, whose offset is not UTC", probe.Short(s))
		}
		return time.Time{}, fmt.Errorf("is %q, not a timestamp of ISO 8601 in UTC", probe.Short(s))
	case m[9] == "":
		return time.Time{}, fmt.Errorf("is %q, without Z or an offset: that is local time", probe.Short(s))
	}
	seconds := m[8]
	if seconds == "" || seconds == "60" { // a leap second
		seconds = "59"
	}
	at, err := time.Parse("20060102150405", m[1]+m[3]+m[5]+m[6]+m[7]+seconds)
	if err != nil {
		return at, fmt.Errorf("is %q, a day or time that does not exist", probe.Short(s))
	}
	return at, nil
}
