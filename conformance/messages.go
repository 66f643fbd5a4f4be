package conformance

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"example.com/animalstore/conformance/internal/wire"
)

// POST /messages (contract, sections 2.7 and 4.4).

var messageChecks = []Check{
	{"messages.status", Required, "1, 4.4", "POST /messages accepts a valid message"},
	{"messages.id", Required, "2.7", "the message record has an id, a string"},
	{"messages.text", Required, "2.7", "the message record has a message, a string"},
	{"messages.status-type", Required, "2.7", "the message record has a status, a string"},
	{"messages.time", Required, "2.7", "createdAt is an ISO 8601 timestamp in UTC"},
	{"messages.time.rfc3339", Recommended, "2.7", "createdAt is a timestamp of RFC 3339"},
	{"messages.echo", Required, "2.7", "the message record repeats the text"},
	{"messages.queued", Recommended, "1, 2.7, 3.2, 4.4", "the status of the message record is queued"},
	{"messages.time.now", Required, "2.7", "createdAt is the time at which the message was created"},
	{"messages.time.passes", Required, "2.7", "the createdAt of a later message is not an earlier time"},
	{"messages.id.unique", Required, "2.7", "every message has its own id"},
	{"messages.id.same-text", Recommended, "2.7", "messages with the same text have ids of their own"},
	{"messages.form", Recommended, "4.4", "a message as a form is refused"},
	{"messages.400.body", Required, "4.4, 7", "a message in a body that is missing or not a JSON object gets 400"},
	{"messages.400.required", Required, "4.4, 7", "a body without the string message gets 400"},
	{"messages.400.content-type", Required, "4.4", "a message without a Content-Type gets 400"},
	{"messages.400.duplicate", Recommended, "RFC 8259, 4", "a message in a body with a name twice gets 400"},
	{"messages.400.utf8", Recommended, "RFC 8259, 8.1", "a message in a body that is not UTF-8 gets 400"},
}

// message is a message that the target has accepted.
type message struct {
	by       *exchange
	id, text string
	at       time.Time // createdAt; zero: not a timestamp
}

// submit submits a message.
func (r *run) submit(text string) { r.play(r.submitting(submit(text), text)) }

// submitting submits a message by a request that may be unusual.
func (r *run) submitting(q request, text string) step {
	return step{q, func(x *exchange) {
		r.accept("messages.status", nil, x, 0, "a valid message is submitted")
		if x.Succeeded() {
			r.judgeRecord(x, text)
		}
	}}
}

// judgeRecord judges the record of a message with that text, which x must show.
func (r *run) judgeRecord(x *exchange, text string) {
	member := func(check, name string) (string, bool) {
		s, err := x.Str(name)
		if check != "messages.time" || err != nil {
			r.check(check, x, err == nil, "the body is not a message record: %v", err)
		}
		return s, err == nil
	}
	id, _ := member("messages.id", "id")
	if got, ok := member("messages.text", "message"); ok {
		r.check("messages.echo", x, got == text, "the text is %s", wire.Different(got, text))
	}
	if got, ok := member("messages.status-type", "status"); ok {
		r.check("messages.queued", x, got == "queued", "the status is %q, want queued", wire.Cut(got, 80))
	}
	m := message{by: x, id: id, text: text}
	if created, ok := member("messages.time", "createdAt"); ok {
		m.at = r.judgeTime(x, created)
	}
	earlier := r.messages
	r.messages = append(r.messages, m)
	var same, other, later finding
	for _, e := range earlier {
		if id != "" && e.id == id {
			f := wrong("another message of this run has the same id%s", x.during(e.by)).after(e.by)
			if e.text == text {
				same = f
			} else {
				other = f
			}
		}
		if !m.at.IsZero() && x.follows(e.by) && e.at.Sub(m.at) > time.Second { // the clocks of several servers may differ a little
			later = wrong("createdAt is %s, and that of an earlier message is %s",
				m.at.Format(time.RFC3339Nano), e.at.Format(time.RFC3339Nano)).after(e.by)
		}
	}
	r.judge("messages.id.unique", x, other)
	r.judge("messages.id.same-text", x, same)
	r.judge("messages.time.passes", x, later)
}

// judgeTime judges the createdAt of x and returns it. If it is no timestamp, the time is zero.
func (r *run) judgeTime(x *exchange, created string) time.Time {
	at, err := parseTimestamp(created)
	other := err != nil && otherForm.MatchString(created)
	r.check("messages.time", x, err == nil || other, "createdAt %v", err)
	r.check("messages.time.rfc3339", x, !other, "createdAt is %q, not written as in 2026-11-23T10:20:00Z", wire.Cut(created, 80))
	if err != nil {
		return time.Time{}
	}
	near := func(t time.Time, d time.Duration) bool { return at.Sub(t).Abs() <= d }
	date, err := http.ParseTime(x.Header.Get("Date"))
	if err != nil { // the suite's own clock may be wrong
		r.check("messages.time.now", x, near(x.Sent, 25*time.Hour), "createdAt is %q in a response that came at %s",
			created, x.Sent.UTC().Format(time.RFC3339))
	} else {
		r.check("messages.time.now", x, near(date, 10*time.Minute) || near(x.Sent, 10*time.Minute), "createdAt is %q in a response of %s",
			created, date.UTC().Format(time.RFC3339))
	}
	return at
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
		return time.Time{}, fmt.Errorf("is %q, not a timestamp of ISO 8601 in UTC, as 2026-11-23T10:20:00Z is", wire.Cut(s, 80))
	case offset != 0:
		return time.Time{}, fmt.Errorf("is %q, whose offset is not UTC", wire.Cut(s, 80))
	}
	return t, nil
}

// wrongTypes sends messages without the media type of JSON.
func (r *run) wrongTypes() {
	none := fields{"Content-Type": ""}
	r.queue(r.want400("messages.400.content-type", submit(r.name()).as("no Content-Type", refusal).set(none)))
	form := fields{"Content-Type": "application/x-www-form-urlencoded"}
	r.queue(step{post(opSubmit, "message="+r.name()).as("a form as its body, with its Content-Type", refusal).set(form), func(x *exchange) {
		r.checkStatus("messages.form", x, x.request.what, x.refused(), "4xx")
	}})
}
