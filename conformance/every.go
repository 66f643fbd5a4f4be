package conformance

import (
	"cmp"
	"slices"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// rule is what a check wants of every exchange of the run to which the rule applies.
// It does not matter which check sent the request, or whether it was sent again after
// a 503. Rules are judged when every check has run.
type rule struct {
	what    string // names what it applies to, in the plural, for messages
	applies func(*evidence) bool
	want    func(*evidence) // ends the check if the exchange violates the rule

	// mayBeIdle says that the check passes if the rule applies to no exchange:
	// run has judged enough.
	mayBeIdle bool
}

// judge ends the check if an exchange violates the rule. The first such exchange is
// the proof. An exchange for which the rule is inconclusive does not count. If no
// exchange counts, the check is inconclusive, unless it may be idle.
func (r *rule) judge(h *history) {
	var first *ending
	seen, wrong := 0, 0
	for _, x := range h.all {
		if !r.applies(x) {
			continue
		}
		switch e := attempt(func() { r.want(x) }); {
		case e == nil:
			seen++
		case e.verdict == Fail:
			seen++
			wrong++
			first = cmp.Or(first, e)
		}
	}
	switch {
	case seen == 0 && !r.mayBeIdle:
		inconclusive("the run has no %s", r.what)
	case wrong > 0 && wrong < seen:
		line, rest, more := strings.Cut(first.message, "\n")
		if more {
			rest = "\n" + rest
		}
		fail(first.proof, "%s (%d of %d %s)%s", line, wrong, seen, r.what, rest)
	}
	first.end()
}

// violated returns the ID of a check whose rule one of xs violates, or "".
func (h *history) violated(xs []*probe.Exchange) string {
	for _, x := range h.all {
		if !slices.Contains(xs, x.Exchange) {
			continue
		}
		for _, c := range h.s.checks {
			if c.every == nil || !c.every.applies(x) {
				continue
			}
			if e := attempt(func() { c.every.want(x) }); e != nil && e.verdict == Fail {
				return c.ID
			}
		}
	}
	return ""
}
