package conformance

import (
	"regexp"
	"slices"
	"strconv"

	"example.com/animalstore/conformance/internal/probe"
)

// shownElement matches what showElement adds to a message.
var shownElement = regexp.MustCompile(`\nelement \d+ of the list: \{.*?"id":\s*(-?\d+)\b`)

// nameOrigins adds to each message about an element of a list which request of the
// run added that pet: the target may have accepted it by mistake.
func (s *session) nameOrigins(results []Result) {
	for i := range results {
		r := &results[i]
		m := shownElement.FindStringSubmatch(r.Message)
		if m == nil || r.Verdict == Pass {
			continue
		}
		if x, ok := find(s.client.Exchanges(), func(x *probe.Exchange) bool { return addedPetWithID(x, m[1]) }); ok {
			body := s.redact.Show(string(x.Request.Body))
			r.Message += "\nthis run added it with " + probe.Cut(body, 200)
			if j := slices.IndexFunc(results, func(o Result) bool { return o.proof().RequestBody == body }); j >= 0 {
				r.Message += ", see " + results[j].ID
			}
		}
	}
}

// addedPetWithID reports whether x added the pet with that id.
func addedPetWithID(x *probe.Exchange, id string) bool {
	if x.Request.Operation() != "POST /pets" || !x.Succeeded() {
		return false
	}
	p, ok := guess(x, guessPet)
	return ok && strconv.FormatInt(p.ID, 10) == id
}
