package conformance

import (
	"net/http"
	"slices"

	"example.com/animalstore/conformance/internal/probe"
)

// GET /pets/{petId} (contract, section 4.3).

var getChecks = []Check{
	{
		ID: "pets.get.status", Clause: "get", Title: "GET /pets/{petId} responds 200 for a pet in the store",
		Why:     "The operation is deprecated, and works until its removal.",
		Failure: "Another status for a pet that the target lists or has just added, before 5 December 2030. From then on 404 and 410 are valid too.",
		run: func(t *tester) {
			x := t.getKnownPet()
			if !t.getRemoved() {
				t.wantInStore(t.knownPet(), x)
			}
		},
		every: &rule{what: "requests for a pet of the run", mayBeIdle: true,
			applies: func(x *evidence) bool { return x.added() != nil && x.isValid() },
			want:    func(x *evidence) { x.wantSuccess("the pet is in the store", "200") }},
	},
	{
		ID: "pets.get.media-type", Clause: "media-type", Title: "a pet is application/json",
		Why:     "Clients read a body by its media type.",
		Failure: "Another Content-Type, or none.",
		run:     func(t *tester) { t.getKnown() },
		every:   &rule{what: "pets", applies: func(x *evidence) bool { return x.isPet() && x.usual() }, want: (*evidence).wantJSON},
	},
	{
		ID: "pets.get.pet", Clause: "pet", Title: "a pet has its fields, each of its type",
		Why:     "Typed clients fail on an invalid pet.",
		Failure: "The body is not a JSON object with id, name, categoryId and, if present, a status of the contract.",
		run:     func(t *tester) { t.getKnown() },
		every:   &rule{what: "pets", applies: (*evidence).isPet, want: (*evidence).wantPet},
	},
	{
		ID: "pets.integers", Clause: "integers", Title: "the integers of a pet have no fraction and no exponent",
		Why:     "Typed clients read 7.0 as a floating-point number, or not at all.",
		Failure: "An id or a categoryId, in a list or elsewhere, is written as 7.0 or 1e2.",
		run:     sendLists,
		every: &rule{what: "responses with pets", mayBeIdle: true,
			applies: func(x *evidence) bool { return x.hasElements() || x.isPet() || x.isNewPet() },
			want: func(x *evidence) {
				pets := x.list.pets
				if one, err := guessPet(x.Exchange); err == nil {
					pets = []pet{one}
				}
				for _, p := range pets {
					if p.fraction != "" {
						fail(x.Exchange, "an integer is written as %s", p.fraction)
					}
				}
			}},
	},
	{
		ID: "pets.get.id", Clause: "id", Title: "a pet has the id that was requested",
		Why:     "A client would mistake one pet for another.",
		Failure: "The id in the response differs from the id in the path, in the list or in the response to the new pet. An id that is converted to floating point loses its last digits.",
		run: func(t *tester) {
			pets := t.s.oldPets("")
			pets = pets[:min(5, len(pets))]
			if !t.s.opts.ReadOnly {
				pets = append(pets, t.samples()...)
			}
			if t.s.opts.Pet != nil {
				pets = append(pets, pet{ID: *t.s.opts.Pet})
			}
			if len(pets) == 0 {
				inconclusive("no pet is known")
			}
			t.wantNotRemoved()
			for _, p := range pets {
				x := t.get(p.path())
				t.wantInStore(p.ID, x)
				wantID(x, p.ID)
			}
		},
		every: &rule{what: "pets", mayBeIdle: true,
			applies: func(x *evidence) bool { return x.isPet() && x.id != nil },
			want:    func(x *evidence) { wantID(x.Exchange, *x.id) }},
	},
	{
		ID: "pets.get.created", Clause: "create-adds", Title: "a new pet can be read at once, as it was added", Writes: true,
		Why:     "A client that adds a pet must find it.",
		Failure: "The id of a new pet gets a status other than 200, or another name, category or status.",
		run:     func(t *tester) { t.wantAllStored(t.samples()) },
		every: &rule{what: "pets of the run",
			applies: func(x *evidence) bool { return x.isPet() && x.added() != nil },
			want: func(x *evidence) {
				x.added().wantSame(x.Exchange, readAnyPet(x.Exchange), "GET /pets/{petId} does not show the pet as it was added")
			}},
	},
	{
		ID: "pets.get.stays", Clause: "get", Title: "a pet stays in the store when many others are added", Writes: true,
		Why:     "No operation of the contract removes a pet.",
		Failure: "At the end of the run, and more than a second after they were added, the first pets of the run get a status other than 200, or have changed.",
		phase:   late, slow: true, run: func(t *tester) {
			pets := append([]pet{t.firstPet()}, t.samples()...)
			t.stock("", 101)
			t.sleepUntil(t.first().x.Received.Add(aWhile))
			all := slices.DeleteFunc(t.s.addedPets(), func(p addedPet) bool { return !p.valid })
			t.parallel(len(all), t.s.opts.Parallel, func(t *tester, i int) {
				t.get(all[i].path()) // pets.get.* judge the responses
			})
			t.wantAllStored(pets)
			for _, status := range append(statuses(), "") {
				t.get(allPets(status)) // pets.list.* judge the lists
			}
		},
	},
	{
		ID: "pets.get.list", Clause: "replacement", Title: "a list with a status shows the same pets as GET /pets/{petId}",
		Why:     "The list replaces GET /pets/{petId}: clients that change to it must see the same pets.",
		Failure: "A pet differs from the same pet in a list of its status.",
		run: func(t *tester) {
			t.addSamples()
			t.wantNotRemoved()
			compared := 0
			for _, status := range statuses() {
				// Others may change or remove a pet meanwhile. Only what differs
				// every time is a violation.
				var e *ending
				for range 3 {
					if e = attempt(func() { compared += t.compareListed(status) }); e == nil {
						break
					}
				}
				e.end()
			}
			if compared == 0 {
				inconclusive("no list has a pet")
			}
		},
	},
}

// wantID ends the check if x shows a pet with another id.
func wantID(x *probe.Exchange, id int64) {
	got := need("the pet cannot be read", func() pet { return readPet(x) })
	if got.ID != id {
		fail(x, "the response has the id %d, want %d", got.ID, id)
	}
}

func (t *tester) wantAllStored(pets []pet) {
	t.wantNotRemoved()
	for _, added := range pets {
		t.wantStored(added)
	}
}

// compareListed compares some pets of a list with GET /pets/{petId} and returns
// how many.
func (t *tester) compareListed(status string) int {
	l := t.listing(status)
	some := l.pets[:min(3, len(l.pets))]
	for _, listed := range some {
		x := t.get(listed.path())
		t.wantInStore(listed.ID, x)
		got := need("the pet cannot be read", func() pet { return readPet(x) })
		if diff, ok := listed.diff(got); !ok {
			fail(x, "the pet is not as in the list: %s", diff.text)
		}
	}
	return len(some)
}

// knownPet returns the id of a pet in the store: the one of the options, one of
// this run, or one from the list.
func (t *tester) knownPet() int64 {
	if t.s.opts.Pet != nil {
		return *t.s.opts.Pet
	}
	if !t.s.opts.ReadOnly {
		return t.firstPet().ID
	}
	listed := t.s.oldPets("")
	if len(listed) == 0 {
		inconclusive("no pet is known: the list was empty when the run began")
	}
	return listed[0].ID
}

// someID is knownPet for requests that are useful without a pet too. It then returns 1.
func (t *tester) someID() int64 {
	id := int64(1)
	attempt(func() { id = t.knownPet() })
	return id
}

// getKnownPet gets a pet in the store, once for all checks.
func (t *tester) getKnownPet() *probe.Exchange {
	return share(t, "get", func(t *tester) *probe.Exchange { return t.get(petPath(t.knownPet())) })
}

// getKnown is getKnownPet for a check that does not test the status.
func (t *tester) getKnown() *probe.Exchange {
	x := need("there is no pet to get", t.getKnownPet)
	t.wantNotRemoved()
	return x
}

// getRemoved reports whether the target has removed GET /pets/{petId}, which it
// may from the scheduled day on.
func (t *tester) getRemoved() bool {
	if t.s.opts.Now().Before(removalBegins) {
		return false
	}
	status := t.getKnownPet().Status
	return status == http.StatusNotFound || status == http.StatusGone
}

// wantNotRemoved ends the check if GET /pets/{petId} was removed as scheduled.
func (t *tester) wantNotRemoved() {
	if need("there is no pet to get", t.getRemoved) {
		inconclusive("the operation was removed as scheduled")
	}
}

// wantInStore ends the check if x, the response for a pet that was in the store,
// is not 200. Others may have removed the pet since, unless this run added it.
func (t *tester) wantInStore(id int64, x *probe.Exchange) {
	if x.Status == 200 {
		return
	}
	stays := t.s.opts.Pet != nil && *t.s.opts.Pet == id || t.s.hasCreated(id)
	for _, status := range append([]string{""}, statuses()...) {
		stays = stays || t.listing(status).has(id)
	}
	if !stays {
		inconclusive("the pet %d was listed when the run began and is not listed any more", id)
	}
	t.wantStatus(x, 200, "GET %s, a pet in the store", x.Request.Path)
}
