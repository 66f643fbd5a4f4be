package conformance

import (
	"net/http"
	"slices"

	"example.com/animalstore/conformance/internal/probe"
)

var createRefused = Check{
	ID: "pets.create.refused", Title: "a request that is refused adds nothing", Writes: true,
	Why:     "A client that corrects its request and repeats it would have the pet twice.",
	Failure: "A pet whose request got 400 is in the store. Inconclusive if the store has more than a list can show.",
	run: func(t *tester) {
		responses := t.sendFaults(createOperation, petFaults())
		t.wantNotStored(slices.DeleteFunc(responses, func(x *probe.Exchange) bool {
			return x.Request.Pet == "" || !x.Refused() // pets.create.400.* judge the status
		}))
	},
}

var createUnauthorized = Check{
	ID: "pets.create.unauthorized", Title: "a request without a valid credential adds nothing", Writes: true,
	Why:     "Anyone could fill the store.",
	Failure: "A pet whose request got 401 is in the store. Inconclusive if the store has more than a list can show.",
	run:     func(t *tester) { t.wantNotStored(t.unauthorized(createOperation)) },
}

// refusals are the responses to refused requests, by the names of their pets.
type refusals map[string]*probe.Exchange

const stored = "the pet %q is in the store, though its request got %s%s"

// wantNotStored ends the check if the store has the pet of a refused request.
func (t *tester) wantNotStored(responses []*probe.Exchange) {
	if len(responses) == 0 {
		inconclusive("no request was refused")
	}
	refused := make(refusals)
	for _, x := range responses {
		refused[x.Request.Pet] = x
	}
	first := t.firstPet() // added before any refused request was sent
	last := t.add("available")
	// A list that has the first and the last pet has those between them too.
	shown := false
	for _, status := range append([]string{""}, statuses()...) {
		l := t.listing(status)
		for _, found := range l.pets {
			if r := refused[found.Name]; r != nil {
				fail(l.x, stored, found.Name, r.StatusLine(), l.show(found.ID))
			}
		}
		shown = shown || status == "" && l.complete || l.has(first.ID) && l.has(last.ID)
	}
	switch {
	case shown:
	case isClose(first.ID, last.ID):
		t.searchBetween(first.ID, last.ID, refused)
	default:
		t.refuseAgain(responses)
	}
}

// refuseAgain sends the refused requests again, a few at a time, so that other
// clients add only few pets meanwhile.
func (t *tester) refuseAgain(responses []*probe.Exchange) {
	const few, tries = 8, 3
	if !isClose(t.add("available").ID, t.add("available").ID) { // the ids do not count up
		tooMany()
	}
	for some := range slices.Chunk(responses, few) {
		close := false
		for try := 0; try < tries && !close; try++ {
			first := t.add("available")
			refused := make(refusals)
			for _, x := range some {
				if x = t.do(x.Request); !x.Succeeded() { // otherwise its pet may be in the store
					refused[x.Request.Pet] = x
				}
			}
			last := t.add("available")
			if close = isClose(first.ID, last.ID); close {
				t.searchBetween(first.ID, last.ID, refused)
			}
		}
		if !close {
			tooMany()
		}
	}
}

// isClose reports whether b is above a, with few enough ids between them to get
// each pet.
func isClose(a, b int64) bool {
	return b > a && b-a > 0 && b-a <= 400
}

// searchBetween gets the pets with ids between a and b: a store that counts gives
// such an id to the pet of a refused request.
func (t *tester) searchBetween(a, b int64, refused refusals) {
	t.parallel(int(b-a-1), t.s.opts.Parallel, func(t *tester, i int) {
		x := t.get(petPath(a + 1 + int64(i)))
		found, _ := guess(x, parsePet) // pets.get.* judge it
		if r := refused[found.Name]; r != nil && x.Status == http.StatusOK {
			fail(x, stored, found.Name, r.StatusLine(), "")
		}
	})
}
