package conformance

import (
	"bytes"
	"slices"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// Where a pet in a list comes from: it was there before the run, a request of the run has added
// it, or another client has.

// knowsStart reports whether the lists at the start show every pet that was there: the longest
// one has fewer than it may have, and the target does not end lists there.
func (h *history) knowsStart() bool {
	start, ok := h.atStart[probe.LongestList("")]
	n := len(start.Elements)
	return ok && !start.More && n < 100 && (n == 0 || n < h.longest)
}

// appeared reports whether p was not there before the run, and no response to a POST has its ID.
func (h *history) appeared(p probe.Pet) bool {
	for _, l := range h.atStart {
		if probe.HasID(l.Pets, p.ID) {
			return false
		}
	}
	return h.addedBy(p.ID) == nil && (h.knowsStart() || h.ourNames.MatchString(p.Name))
}

// requestsFor returns the requests of the run for a pet with the name of p, or if there are none,
// those whose body is wrong and may be taken for one.
func (h *history) requestsFor(p probe.Pet) []*exchange {
	ours := h.ourNames.FindString(p.Name) // a target may have changed the rest
	quoted, bare := []byte(probe.QuoteJSON(p.Name)), []byte(":"+p.Name)
	var named, wrong []*exchange
	for _, x := range h.posts {
		body := x.Request.Body
		switch {
		case x.intent.Pet != nil:
			if name := x.intent.Pet.Name; name == p.Name || ours != "" && strings.Contains(name, ours) {
				named = append(named, x)
			}
		case ours != "" && bytes.Contains(body, []byte(ours)):
			named = append(named, x)
		case bytes.Contains(body, quoted) || bytes.Contains(body, bare):
			wrong = append(wrong, x)
		}
	}
	if len(named) > 0 {
		return named
	}
	return wrong
}

// unexplained returns the requests for a pet with the name of p, if none of them can have added
// p: each was refused, or has added another one. Nil: p may be there.
func (h *history) unexplained(p probe.Pet) []*exchange {
	if !h.appeared(p) {
		return nil
	}
	requests := h.requestsFor(p)
	mayHaveAdded := func(x *exchange) bool { return !x.Refused() && !x.isAdded() }
	if slices.ContainsFunc(requests, mayHaveAdded) {
		return nil
	}
	return requests
}

// otherWriter returns a pet that was not there before and that the run has not sent, and a list
// that shows it. Nil: there is none.
func (h *history) otherWriter() (*exchange, probe.Pet) {
	for _, x := range h.all {
		for _, p := range x.list.Pets {
			unreadable := strings.Contains(p.Name, "\ufffd") // as which a target may store what is not UTF-8
			if h.appeared(p) && !unreadable && len(h.requestsFor(p)) == 0 {
				return x, p
			}
		}
	}
	return nil, probe.Pet{}
}
