package conformance

import (
	"cmp"
	"slices"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// rule is what a check demands of every exchange of the run to which it applies,
// whatever it was sent for: by a check, to prepare one, or again after a 503. It is
// judged when every check has run.
type rule struct {
	what    string // to what it applies, in the plural, for messages
	applies func(*evidence) bool
	want    func(*evidence) // ends the check if the exchange violates the rule

	// mayBeIdle says that the rule need not apply to any exchange: what the check
	// itself has sent and judged suffices.
	mayBeIdle bool
}

// judge ends the check if an exchange violates the rule. The first one that does is
// the proof. An exchange about which the rule cannot tell does not count. A check whose rule applies to no exchange is inconclusive.
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
		what, elements, shown := strings.Cut(first.message, "\n")
		if shown {
			elements = "\n" + elements
		}
		fail(first.proof, "%s (%d of %d %s)%s", what, wrong, seen, r.what, elements)
	}
	first.end()
}

// violated returns the ID of a check whose rule one of the exchanges violates, or "".
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
