package conformance

import (
	"net/http"
	"slices"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// Which pets are in the store after requests that are sent at the same time, have the
// same name, or are refused.

var concurrentChecks = []Check{
	{
		ID: "pets.create.same-name", Clause: "create-adds", Title: "two pets may have the same name, or one of them gets 400", Writes: true,
		Why:     "A store that uses the name as a key loses the first pet.",
		Failure: "A pet with the name of an earlier pet, or of one that is sent at the same time, gets an error other than 400, or its response is a success and the store does not have it as it was sent.",
		phase:   filling, run: func(t *tester) {
			for _, x := range t.namesakes() {
				if x.Status != http.StatusBadRequest { // pets.create.same-name.accepted judges it
					t.wantKept(x)
				}
			}
		},
	},
	{
		ID: "pets.create.same-name.accepted", Clause: "name-again", Title: "a pet may have the name of another", Writes: true,
		Why:     "Two dogs are called Rex.",
		Failure: "A pet with the name of another gets 400.",
		phase:   filling, run: func(t *tester) {
			for _, x := range t.namesakes() {
				if x.Status == http.StatusBadRequest {
					fail(x, "a pet that has the name of another gets %s", x.StatusLine())
				}
			}
		},
	},
	{
		ID: "pets.create.concurrent", Clause: "create-adds", Title: "32 concurrent requests add 32 pets", Writes: true,
		Why:     "Clients do not wait for each other.",
		Failure: "One of the requests fails, two pets get the same id, or one of the pets is not in the store afterwards.",
		run: func(t *tester) {
			const n = 32
			added := make([]pet, n)
			responses := make([]*probe.Exchange, n)
			t.parallel(n, n, func(t *tester, i int) {
				responses[i] = t.post(t.newPet(statuses()[i%3]))
				added[i] = t.added(responses[i])
			})
			if i := duplicate(added, pet.id); i >= 0 {
				fail(responses[i], "two of %d pets that were added concurrently have the id %d", n, added[i].ID)
			}
			if !t.getRemoved() {
				t.parallel(n, t.s.opts.Parallel, func(t *tester, i int) { t.wantStored(added[i]) })
			}
		},
	},
	{
		ID: "pets.create.busy", Clause: "create-adds", Title: "pets are right while others are added and listed", Writes: true,
		Why:     "Clients read while others write.",
		Failure: "While 6 pets are added, and pets and lists are requested 64 times, 16 at a time, a new pet is refused, or a pet that was added or that a list shows gets a status other than 200, or differs from what was sent.",
		phase:   first, run: func(t *tester) {
			pets := t.samples()
			// Enough requests of each kind to find a fault that occurs once in fifty.
			t.parallel(64, 16, func(t *tester, i int) {
				added := pets[i%len(pets)]
				if i%11 == 0 {
					added = t.added(t.post(t.newPet(statuses()[i%3])))
				}
				t.wantStored(added)
				l := t.listing(added.Status)
				if l.has(added.ID) { // pets.list.* judge one that lacks it
					l.wantSame(added)
				}
				t.wantShownStored(l)
				if i%2 == 0 && t.s.target.MessagesURL != "" {
					t.do(messageRequest(t, `{"message":$N}`)) // messages.* judge the response
				}
				if i%4 == 0 { // auth.* judge the responses
					t.do(probe.Get("/pets").With(probe.Credential{}))
					t.do(probe.Get(added.path()).With(probe.Credential{}))
				}
			})
		},
	},
}

// wantShownStored ends the check if l shows a pet of the run whose creation has no
// response yet, and GET /pets/{petId} does not find it.
func (t *tester) wantShownStored(l listing) {
	acknowledged := t.s.addedPets()
	for _, p := range l.pets {
		known := slices.ContainsFunc(acknowledged, func(a addedPet) bool { return a.ID == p.ID })
		if !known && strings.HasPrefix(p.Name, t.s.mark) && !t.getRemoved() {
			t.wantStatus(t.get(p.path()), http.StatusOK, "a list shows the pet %d", p.ID)
		}
	}
}

// namesakes returns the responses to two pets with the same name, sent one after the
// other, and to two that are sent at the same time. All checks share them.
func (t *tester) namesakes() []*probe.Exchange {
	return share(t, "same-name", func(t *tester) []*probe.Exchange {
		first, both := t.newPet("sold"), t.newPet("")
		responses := []*probe.Exchange{t.post(first), t.post(newPet{first.Name, first.Category, "pending"}), nil, nil}
		t.parallel(2, 2, func(t *tester, i int) { responses[2+i] = t.post(both) })
		return responses
	})
}

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
