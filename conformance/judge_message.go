package conformance

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
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

// timestamp is a date and time, and how precise it is: to the second, minute or hour.
type timestamp struct {
	time.Time
	precision time.Duration
}

// timestampForm matches a date and time of ISO 8601, in the extended or the basic format,
// with a calendar date, a week date or an ordinal date.
var timestampForm = regexp.MustCompile(`^(?P<year>\d{4}|[+-]\d{6})-?(?:(?P<month>\d\d)-?(?P<day>\d\d)|W(?P<week>\d\d)-?(?P<weekday>\d)|(?P<yearday>\d{3}))` +
	`T(?P<hour>\d\d)(?::?(?P<minute>\d\d)(?::?(?P<second>\d\d))?)?(?:[.,]\d+)?(?P<zone>Z|[+-]\d\d(?::?\d\d)?)?$`)

// parseTimestamp reads an ISO 8601 date and time in UTC. It ignores fractions.
func parseTimestamp(s string) (timestamp, error) {
	var t timestamp
	m := timestampForm.FindStringSubmatch(strings.ToUpper(s))
	if m == nil {
		return t, fmt.Errorf("is %q, not a timestamp of ISO 8601 in UTC", probe.Short(s))
	}
	part := func(name string) string { return m[timestampForm.SubexpIndex(name)] }
	number := func(name string) int { n, _ := strconv.Atoi(part(name)); return n } // 0: it has no such part
	switch zone := part("zone"); {
	case zone == "":
		return t, fmt.Errorf("is %q, without Z or an offset: that is local time", probe.Short(s))
	case strings.Trim(zone, "Z+-:0") != "":
		return t, fmt.Errorf("is %q, whose offset is not UTC", probe.Short(s))
	}
	day := time.Date(number("year"), time.Month(max(number("month"), 1)), max(number("day"), 1), 0, 0, 0, 0, time.UTC)
	exists := part("month") == "" || int(day.Month()) == number("month") && day.Day() == number("day")
	if !exists || number("hour") > 24 || number("minute") > 59 || number("second") > 60 {
		return t, fmt.Errorf("is %q, a day or time that does not exist", probe.Short(s))
	}
	switch {
	case part("week") != "": // the week with 4 January is the first one
		fourth := day.AddDate(0, 0, 3)
		day = fourth.AddDate(0, 0, 7*(number("week")-1)+number("weekday")-1-(int(fourth.Weekday())+6)%7)
	case part("yearday") != "":
		day = day.AddDate(0, 0, number("yearday")-1)
	}
	clock := time.Duration(number("hour"))*time.Hour + time.Duration(number("minute"))*time.Minute + time.Duration(number("second"))*time.Second
	t = timestamp{day.Add(clock), time.Second}
	switch {
	case part("minute") == "":
		t.precision = time.Hour
	case part("second") == "":
		t.precision = time.Minute
	}
	return t, nil
}

// wrongNow says what is wrong if got is far from the time of x.
func (x *exchange) wrongNow(got string) string {
	at, err := parseTimestamp(got)
	if err != nil {
		return ""
	}
	near := func(t time.Time, d time.Duration) bool { return at.Sub(t).Abs() <= max(d, at.precision) }
	date, err := http.ParseTime(x.Header.Get("Date"))
	switch {
	case err == nil && !near(date, 10*time.Minute) && !near(x.Sent, 10*time.Minute):
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
	case after == before && b.precision == time.Second:
		return fmt.Sprintf("createdAt is still %q, %.1f seconds after an earlier message", after, gap.Seconds())
	case b.Before(a.Time):
		return fmt.Sprintf("createdAt is %q, before the %q of an earlier message", after, before)
	case b.Sub(a.Time) > gap+time.Minute:
		return fmt.Sprintf("createdAt is %q, but %q in a message that was sent %.1f seconds earlier", after, before, gap.Seconds())
	}
	return ""
}
