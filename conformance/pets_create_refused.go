package conformance

import (
	"net/http"
	"slices"

	"example.com/animalstore/conformance/internal/probe"
)

var refusedChecks = []Check{
	{
		ID: "pets.create.refused", Clause: "create-refused", Title: "a request that is refused adds nothing", Writes: true,
		Why:     "A client that corrects its request and repeats it would have the pet twice.",
		Failure: "A pet whose request got 400, or a 4xx other than 401, is in the store. Inconclusive if the store has more than a list can show.",
		run: func(t *tester) {
			responses := t.sendFaults(createOperation)
			t.showRefused(slices.DeleteFunc(responses, func(x *probe.Exchange) bool {
				// pets.create.400.* judge the status. The first of several attempts may have succeeded.
				return x.Request.Pet == "" || !x.Refused() || x.Attempts > 1
			}))
		},
		every: refusedRule(func(status int) bool { return status != http.StatusUnauthorized }),
	},
	{
		ID: "pets.create.unauthorized", Clause: "key-create", Title: "a request without a valid credential adds nothing", Writes: true,
		Why:     "Anyone could fill the store.",
		Failure: "A pet whose request got 401 is in the store. Inconclusive if the store has more than a list can show.",
		run:     func(t *tester) { t.showRefused(t.unauthorized(createOperation)) },
		every:   refusedRule(func(status int) bool { return status == http.StatusUnauthorized }),
	},
}

const stored = "the pet %q is in the store, though its request got %s%s"

// refusedRule returns the rule that no list has a pet whose requests were all refused.
// It applies if is returns true for the status of the last one.
func refusedRule(is func(status int) bool) *rule {
	return &rule{what: "lists with a pet", mayBeIdle: true, applies: (*evidence).hasElements, want: func(x *evidence) {
		x.eachAsked(func(p pet, a asked) {
			if a.pets == 0 && is(a.refused.Status) {
				fail(x.Exchange, stored, p.Name, a.refused.StatusLine(), x.list.show(p.ID))
			}
		})
	}}
}

// showRefused requests lists that show the pets of refused requests, if they are in the
// store. If the store has too many pets for that, it looks for them by their ids.
func (t *tester) showRefused(responses []*probe.Exchange) {
	if len(responses) == 0 {
		inconclusive("no request was refused")
	}
	first := t.firstPet() // added before any refused request was sent
	last := t.add("available")
	// A list that has the first and the last pet has those between them too.
	shown := false
	for _, status := range append([]string{""}, statuses()...) {
		l := t.listing(status)
		shown = shown || status == "" && l.complete || l.has(first.ID) && l.has(last.ID)
	}
	if !shown {
		t.refuseAgain(responses)
	}
}

// refuseAgain sends refused requests again, a few at a time between two new pets,
// and gets every pet with an id between theirs. A store that counts gives such an
// id to the pet of a refused request.
func (t *tester) refuseAgain(responses []*probe.Exchange) {
	const few, between = 16, 1000 // other clients may add pets meanwhile
	for some := range slices.Chunk(responses, few) {
		first := t.add("available").ID
		refused := make(map[string]*probe.Exchange) // by the names of their pets
		for _, x := range some {
			if x = t.do(x.Request); !x.Succeeded() { // otherwise its pet may be in the store
				refused[x.Request.Pet] = x
			}
		}
		ids := int(t.add("available").ID - first)
		if ids < 1 || ids > between {
			tooMany()
		}
		t.parallel(ids-1, t.s.opts.Parallel, func(t *tester, i int) {
			x := t.get(petPath(first + 1 + int64(i)))
			found, _ := parsePet(x) // pets.get.* judge a body that is not a pet
			if r := refused[found.Name]; r != nil && x.Status == http.StatusOK {
				fail(x, stored, found.Name, r.StatusLine(), "")
			}
		})
	}
}
