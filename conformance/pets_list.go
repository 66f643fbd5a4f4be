package conformance

import (
	"example.com/animalstore/conformance/internal/probe"
)

// GET /pets (contract, sections 2.2, 2.3 and 4.1).

// lists returns the responses to requests for lists, which are sent once for all
// checks.
func (t *tester) lists() []*probe.Exchange {
	return share(t, "lists", func(t *tester) []*probe.Exchange {
		attempt(t.addSamples) // without them there are lists too
		anything := probe.Get("/pets")
		anything.Accept = "*/*"
		responses := []*probe.Exchange{t.do(anything)}
		for _, query := range []string{
			"", "?limit=1", "?limit=20", "?limit=100",
			"?status=available", "?status=pending&limit=1", "?status=pending&limit=5",
			"?limit=100&status=available", "?limit=100&status=pending", "?limit=100&status=sold",
		} {
			responses = append(responses, t.get("/pets"+query))
		}
		return responses
	})
}

// okLists returns these responses for a check that does not test their status.
func (t *tester) okLists() []*probe.Exchange {
	responses := t.lists()
	for _, x := range responses {
		t.needOK(x)
	}
	return responses
}

var listChecks = []Check{
	{
		ID: "pets.list.status", Clause: "list", Title: "GET /pets responds 200",
		Why:     "It is the only way to see what the store has.",
		Failure: "Another status for a list that is requested with a valid key, without parameters or with valid ones.",
		phase:   late, run: func(t *tester) {
			for _, x := range t.lists() {
				t.wantStatus(x, 200, "a list is requested with a valid key")
			}
		},
	},
	{
		ID: "pets.list.media-type", Clause: "media-type", Title: "a list is application/json",
		Why:     "Clients read a body by its media type, or refuse it.",
		Failure: "Another Content-Type, or none, to a client that accepts application/json or anything. Parameters such as charset are ignored.",
		phase:   late, run: func(t *tester) {
			for _, x := range t.okLists() {
				wantJSON(x)
			}
		},
	},
	{
		ID: "pets.list.array", Clause: "array", Title: "a list is a bare array",
		Why:     "A client that expects an array cannot read an object around it.",
		Failure: "A body that is not JSON, or not an array: null, or an object that has the list in a member.",
		phase:   last, run: func(t *tester) {
			t.okLists()
			t.every("list", isList, func(x *probe.Exchange) { readList(x) })
		},
	},
	{
		ID: "pets.list.empty", Clause: "array", Title: "a list without pets is an empty array",
		Why:     "A client that loops over the list should not have to handle null, 204 or 404.",
		Failure: "A filter that matches no pet gets another status than 200, or another body than []. Inconclusive if every filter matched a pet when the run began.",
		run: func(t *tester) {
			empty := false
			for _, status := range statuses() {
				x := t.s.start[status] // the run itself adds pets with every status
				if x == nil || x.Status == 0 {
					continue
				}
				t.record(x)
				t.wantStatus(x, 200, "the filter is valid")
				empty = len(readList(x)) == 0 || empty
			}
			if !empty {
				inconclusive("every filter matched a pet when the run began")
			}
		},
	},
	{
		ID: "pets.list.pet", Clause: "pet", Title: "every pet in a list has its fields, each of its type",
		Why:     "Typed clients fail on the first pet that is invalid.",
		Failure: "A member is missing or of another type, the status is not in the enumeration (null is not), or the id or categoryId is not an int64.",
		phase:   late, run: func(t *tester) {
			seen := 0
			for _, x := range t.okLists() {
				l := t.readListing(x)
				for i, v := range l.elements {
					if _, err := parsePet(v); err != nil {
						fail(x, "the list has an element that is not a Pet: %v%s", err, showElement(i, v))
					}
				}
				seen += len(l.elements)
			}
			if seen == 0 {
				inconclusive("the store has no pets")
			}
		},
	},
	{
		ID: "pets.list.ids", Clause: "id-unique", Title: "no two pets in a list have the same id",
		Why:     "Clients store pets by id: one would overwrite the other.",
		Failure: "An id is in the same list twice.",
		phase:   late, run: func(t *tester) {
			t.addSamples()
			for _, status := range append(statuses(), "") {
				l := t.listing(status)
				if i := duplicate(l.pets, pet.id); i >= 0 {
					fail(l.x, "two pets in the list have the id %d%s", l.pets[i].ID, l.show(l.pets[i].ID))
				}
			}
		},
	},
	{
		ID: "pets.list.created", Clause: "list-shows", Title: "a pet is in the list as soon as it is added", Writes: true,
		Why:     "A client that adds a pet and then lists must see it.",
		Failure: "A list that is short enough to have every pet does not have one that was added. Inconclusive if the store has more than a list can show.",
		run: func(t *tester) {
			pets, l := t.samples(), t.listing("")
			seen := 0
			for _, added := range pets {
				if !l.has(added.ID) && l.complete {
					fail(l.x, "the list of %d pets does not have the pet that was just added with the id %d", len(l.pets), added.ID)
				}
				if !l.has(added.ID) {
					e := attempt(func() { t.listingWith(added) })
					if e != nil && e.verdict == Inconclusive {
						continue
					}
					e.end()
				}
				seen++
			}
			if seen == 0 {
				tooMany()
			}
		},
	},
	{
		ID: "pets.list.same", Clause: "list-shows", Title: "a list shows a pet as it was added", Writes: true,
		Why:     "The list replaces GET /pets/{petId} and must show the same pets.",
		Failure: "The name, categoryId or status in the list differs from what was sent on creation.",
		run: func(t *tester) {
			pets := t.samples()
			seen := false
			for _, status := range append(statuses(), "") {
				l := t.listing(status)
				for _, added := range pets {
					if l.has(added.ID) {
						seen = true
						l.wantSame(added)
					}
				}
			}
			if !seen {
				var l listing
				var added pet
				assume("no list shows the pets that were added", func() { l, added = t.listingWith(pets[0]) })
				l.wantSame(added)
			}
		},
	},
}
