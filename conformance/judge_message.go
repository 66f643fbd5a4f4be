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
	isText := func(x *exchange) bool { return x.text != nil && x.valid() }
	member := func(id, clause, title string, basic basic, name string, wrong func(x *exchange, got string) string) Check {
		return Check{
			ID: id, Clause: clause, Title: title, basic: basic,
			applies: func(x *exchange) bool {
				_, err := x.member(name)
				return x.isRecord() && (basic == aboutShape || err == nil)
			},
			wrong: func(x *exchange) string {
				got, err := x.member(name)
				if err != nil {
					return "the body is not a message record: " + err.Error()
				}
				return wrong(x, got)
			},
		}
	}
	any := func(*exchange, string) string { return "" }
	checks := []Check{
		{
			ID: "messages.status", Clause: "submit", Title: "POST /messages accepts a valid message",
			basic: aboutStatus, applies: func(x *exchange) bool { return isText(x) && (!x.refusedArguably() || x.Succeeded()) },
			wrong: func(x *exchange) string {
				return x.wrongSuccess("a valid message is submitted"+x.meanwhile(), 0)
			},
		},
		{
			ID: "messages.text.accepted", Clause: "text-any", Title: "a short text that can be read is accepted",
			basic: aboutStatus, idle: true, applies: func(x *exchange) bool { return isText(x) && x.refusedArguably() && !x.isRepeated() },
			wrong: func(x *exchange) string {
				return x.wrongSuccess("a valid message is submitted", 0)
			},
		},
		member("messages.id", "message-id", "the message record has an id, a string", aboutShape, "id", any),
		member("messages.text", "message-text", "the message record has a message, a string", aboutShape, "message", any),
		member("messages.status-type", "message-record", "the message record has a status, a string", aboutShape, "status", any),
		member("messages.time", "message-time", "createdAt is an ISO 8601 timestamp in UTC", aboutShape, "createdAt", func(x *exchange, got string) string {
			if _, err := parseTimestamp(got); err != nil {
				return "createdAt " + err.Error()
			}
			return ""
		}),
		member("messages.echo", "message-text", "the message record repeats the text", aboutValues, "message", func(x *exchange, got string) string {
			if got != *x.text {
				return fmt.Sprintf("the text is %q, want %q", probe.Short(got), probe.Short(*x.text))
			}
			return ""
		}),
		member("messages.queued", "message-status", "the status of the message record is queued", aboutValues, "status", func(x *exchange, got string) string {
			if got != "queued" {
				return fmt.Sprintf("the status is %q, want queued", probe.Short(got))
			}
			return ""
		}),
		member("messages.time.now", "message-time", "createdAt is the time at which the message was created", aboutValues, "createdAt", (*exchange).wrongNow),
		{
			ID: "messages.time.passes", Clause: "message-time", Title: "a later message has a later createdAt",
			basic: aboutValues, idle: true, applies: func(x *exchange) bool { return x.isRecord() && x == x.run.lastRecord() }, wrong: (*exchange).wrongLater,
		},
		{
			ID: "messages.id.unique", Clause: "message-id", Title: "every message has its own id",
			basic: aboutIdentity, applies: (*exchange).isRecord,
			wrong: func(x *exchange) string {
				if x.twin != nil && x.twin.isRecord() && *x.twin.text != *x.text {
					return "another message of this run has the same id" + x.meanwhile()
				}
				return ""
			},
		},
		{
			ID: "messages.id.same-text", Clause: "message-again", Title: "messages with the same text have ids of their own",
			basic: aboutIdentity, applies: (*exchange).isRecord,
			wrong: func(x *exchange) string {
				if x.twin != nil && x.twin.isRecord() && *x.twin.text == *x.text {
					return "another message of this run has the same text and the same id"
				}
				return ""
			},
		},
	}
	for _, f := range []struct{ id, clause, title string }{
		{"body", "message-json", "a message in a body that is missing or not a JSON object gets 400"},
		{"required", "message-required", "a body without the string message gets 400"},
		{"content-type", "message-type", "a message without a Content-Type gets 400"},
		{"duplicate", "rfc-duplicates", "a message in a body with a name twice gets 400"},
		{"utf8", "rfc-utf8", "a message in a body that is not UTF-8 gets 400"},
	} {
		checks = append(checks, faultCheck(opSubmit, "messages.400."+f.id, f.clause, f.title))
	}
	return checks
}

// isRecord reports whether the body of x must be the record of a message.
func (x *exchange) isRecord() bool { return x.text != nil && x.Succeeded() }

// member returns a member of the body of x that must be a string.
func (x *exchange) member(name string) (string, error) {
	o, err := x.Object()
	if err != nil {
		return "", err
	}
	return o.Str(name)
}

// timestamp matches a date and time of ISO 8601, in the extended or the basic format,
// with a calendar date, a week date or an ordinal date.
var timestamp = regexp.MustCompile(`^(\d{4}|[+-]\d{6})-?(?:(\d\d)-?(\d\d)|W(\d\d)-?(\d)|(\d{3}))T(\d\d)(?::?(\d\d)(?::?(\d\d))?)?(?:[.,]\d+)?(Z|[+-]\d\d(?::?\d\d)?)?$`)

// parseTimestamp reads an ISO 8601 date and time in UTC, to the second.
func parseTimestamp(s string) (time.Time, error) {
	m := timestamp.FindStringSubmatch(strings.ToUpper(s))
	if m == nil {
		return time.Time{}, fmt.Errorf("is %q, not a timestamp of ISO 8601 in UTC", probe.Short(s))
	}
	switch zone := m[10]; {
	case zone == "":
		return time.Time{}, fmt.Errorf("is %q, without Z or an offset: that is local time", probe.Short(s))
	case strings.Trim(zone, "Z+-:0") != "":
		return time.Time{}, fmt.Errorf("is %q, whose offset is not UTC", probe.Short(s))
	}
	number := func(i int) int {
		n := 0
		fmt.Sscanf(strings.TrimPrefix(m[i], "+"), "%d", &n)
		return n
	}
	day := time.Date(number(1), time.Month(max(number(2), 1)), max(number(3), 1), 0, 0, 0, 0, time.UTC)
	wrong := m[2] != "" && (int(day.Month()) != number(2) || day.Day() != number(3))
	switch {
	case m[4] != "": // the week with 4 January is the first one
		fourth := time.Date(number(1), time.January, 4, 0, 0, 0, 0, time.UTC)
		day = fourth.AddDate(0, 0, 7*(number(4)-1)+number(5)-1-(int(fourth.Weekday())+6)%7)
	case m[6] != "":
		day = day.AddDate(0, 0, number(6)-1)
	}
	if wrong || number(7) > 24 || number(8) > 59 || number(9) > 60 {
		return day, fmt.Errorf("is %q, a day or time that does not exist", probe.Short(s))
	}
	return day.Add(time.Duration(number(7))*time.Hour + time.Duration(number(8))*time.Minute + time.Duration(number(9))*time.Second), nil
}

// wrongNow says what is wrong if got is far from the time of x. An hour is no
// difference if got has no minutes.
func (x *exchange) wrongNow(got string) string {
	at, err := parseTimestamp(got)
	if err != nil {
		return ""
	}
	tolerance := 10 * time.Minute
	if timestamp.FindStringSubmatch(strings.ToUpper(got))[8] == "" {
		tolerance = time.Hour
	}
	near := func(t time.Time, d time.Duration) bool { return at.Sub(t).Abs() <= d }
	date, err := http.ParseTime(x.Header.Get("Date"))
	switch {
	case err == nil && !near(date, tolerance) && !near(x.Sent, tolerance):
		return fmt.Sprintf("createdAt is %q in a response of %s", got, date.UTC().Format(time.RFC3339))
	case err != nil && !near(x.Sent, 25*time.Hour): // the suite's own clock may be wrong
		return fmt.Sprintf("createdAt is %q in a response that came at %s", got, x.Sent.UTC().Format(time.RFC3339))
	}
	return ""
}

// aWhile is how long the run waits for what changes with time. It is more than a
// second, since some targets have times to the second.
const aWhile = 1100 * time.Millisecond

// lastRecord returns the last message of the run with a createdAt. Nil: there is none.
func (h *history) lastRecord() *exchange {
	return h.recordBefore(time.Now())
}

// recordBefore returns the last message with a createdAt whose response came before a
// time. Nil: there is none.
func (h *history) recordBefore(t time.Time) *exchange {
	for i := len(h.all) - 1; i >= 0; i-- {
		x := h.all[i]
		if !x.isRecord() || !x.Received.Before(t) {
			continue
		}
		created, _ := x.member("createdAt")
		if _, err := parseTimestamp(created); err == nil {
			return x
		}
	}
	return nil
}

// wrongLater says what is wrong if the createdAt of x is not after that of the message
// a while before.
func (x *exchange) wrongLater() string {
	earlier := x.run.recordBefore(x.Sent.Add(-aWhile))
	if earlier == nil {
		return ""
	}
	before, _ := earlier.member("createdAt")
	after, _ := x.member("createdAt")
	a, _ := parseTimestamp(before)
	b, _ := parseTimestamp(after)
	switch gap := x.Received.Sub(earlier.Sent); {
	case after == before && timestamp.FindStringSubmatch(strings.ToUpper(after))[9] != "":
		return fmt.Sprintf("createdAt is still %q, %.1f seconds after an earlier message", after, gap.Seconds())
	case b.Before(a):
		return fmt.Sprintf("createdAt is %q, before the %q of an earlier message", after, before)
	case b.Sub(a) > gap+time.Minute:
		return fmt.Sprintf("createdAt is %q, but %q in a message that was sent %.1f seconds earlier", after, before, gap.Seconds())
	}
	return ""
}
