package conformance

import "example.com/animalstore/conformance/internal/probe"

// Checks of the last phase judge every exchange of the run, whatever it was sent
// for: by a check, to prepare one, or again after a 503.

// every ends the check if want ends it for an exchange of the run to which it
// applies. The first such exchange is the proof. A check that found none is
// inconclusive.
func (t *tester) every(what string, applies func(*probe.Exchange) bool, want func(*probe.Exchange)) {
	var first *ending
	seen, wrong := 0, 0
	for _, x := range t.s.client.Exchanges() {
		if x.Status == 0 || !applies(x) {
			continue
		}
		seen++
		if e := attempt(func() { want(x) }); e != nil {
			wrong++
			if first == nil {
				first = e
			}
		}
	}
	switch {
	case seen == 0:
		inconclusive("the run has no %s", what)
	case wrong > 0 && wrong < seen:
		fail(first.proof, "%s (%d of %s)", first.message, wrong, probe.Plural(seen, what))
	}
	first.end()
}

// isList reports whether x should have a list.
func isList(x *probe.Exchange) bool {
	return x.Request.Operation() == "GET /pets" && x.Status == 200
}
