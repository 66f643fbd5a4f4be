package conformance

import (
	"net/http"
	"slices"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// Checks of pets that are added at the same time, or with the same name.

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
