package conformance

import (
	"strings"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// aWhile is how long the run waits to see what changes with time. It is more than a
// second, so that times to the second differ.
const aWhile = 1100 * time.Millisecond

var timeChecks = []Check{
	{
		ID: "messages.time.passes", Clause: "message-time", Title: "a later message has a later createdAt", Writes: true,
		Why:     "Clients sort messages by it.",
		Failure: "Three messages, each more than a second after the one before, have the createdAt of the one before (times to the minute may be the same), an earlier one, or one that is more than a minute too late.",
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
		fail(later, "createdAt is %q, and %q in a message %.1f seconds before", after, before, gap.Seconds())
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
