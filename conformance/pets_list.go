package conformance

import (
	"net/http"
	"slices"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// GET /pets (contract, sections 2.2, 2.3 and 4.1).

// sendLists requests lists, once for all checks.
func sendLists(t *tester) {
	share(t, "lists", func(t *tester) bool {
		attempt(t.addSamples) // without them there are lists too
		anything := probe.Get("/pets")
		anything.Header = []probe.Field{{Name: "Accept", Value: "*/*"}, {Name: "Accept-Encoding", Value: "gzip;q=0"}}
		t.do(anything)
		for _, query := range []string{
			"", "?limit=1", "?limit=20", "?limit=100",
			"?status=available", "?status=pending&limit=1", "?status=pending&limit=5",
			"?limit=100&status=available", "?limit=100&status=pending", "?limit=100&status=sold",
		} {
			t.get("/pets" + query)
		}
		return true
	})
}

var listChecks = []Check{
	{
		ID: "pets.list.status", Clause: "list", Title: "GET /pets responds 200",
		Why:     "It is the only way to see what the store has.",
		Failure: "Another status for a list that is requested with a valid key, without parameters or with valid ones.",
		phase:   late, run: sendLists,
		every: &rule{what: "valid requests for a list", applies: func(x *evidence) bool { return x.query != nil && x.isValid() },
			want: (*evidence).wantListed},
	},
	{
		ID: "pets.list.media-type", Clause: "media-type", Title: "a list is application/json",
		Why:     "Clients read a body by its media type, or refuse it.",
		Failure: "Another Content-Type, or none, to a client that accepts application/json or anything. Parameters such as charset are ignored.",
		phase:   late, run: sendLists,
		every: &rule{what: "lists", applies: func(x *evidence) bool { return x.isList() && x.usual() }, want: (*evidence).wantJSON},
	},
	{
		ID: "pets.list.array", Clause: "array", Title: "a list is a bare array",
		Why:     "A client that expects an array cannot read an object around it.",
		Failure: "A body that is not JSON, or not an array: null, or an object that has the list in a member.",
		phase:   late, run: sendLists,
		every: &rule{what: "lists", applies: (*evidence).isList, want: (*evidence).wantList},
	},
	{
		ID: "pets.list.empty", Clause: "array", Title: "a list without pets is an empty array",
		Why:     "A client that loops over the list should not have to handle null, 204 or 404.",
		Failure: "A filter that matches no pet gets a status other than 200, or a body other than []. Inconclusive if every filter matched a pet when the run began.",
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
		phase:   late, run: sendLists,
		every: &rule{what: "lists with a pet", applies: (*evidence).hasElements, want: func(x *evidence) { x.list.wantPets() }},
	},
	{
		ID: "pets.list.ids", Clause: "id-unique", Title: "no two pets in a list have the same id",
		Why:     "Clients store pets by id: one would overwrite the other.",
		Failure: "An id is in the same list twice.",
		phase:   late, run: func(t *tester) {
			t.addSamples()
			for _, status := range append(statuses(), "") {
				t.get(allPets(status))
			}
		},
		every: &rule{what: "lists with a pet", applies: (*evidence).hasElements, want: func(x *evidence) { x.list.wantIDs() }},
	},
	{
		ID: "pets.list.created", Clause: "list-shows", Title: "a pet is in the list as soon as it is added", Writes: true,
		Why:     "A client that adds a pet and then lists must see it.",
		Failure: "A list that is short enough to have every pet, with a limit of 100, does not have one that was added before. Inconclusive if the store has more than a list can show.",
		run: func(t *tester) {
			pets, l := t.samples(), t.listing("")
			seen := 0
			for _, added := range pets {
				if l.has(added.ID) || attempt(func() { t.listingWith(added) }) == nil {
					seen++
				}
			}
			if seen == 0 {
				tooMany()
			}
		},
		every: &rule{what: "lists of all pets", mayBeIdle: true, applies: (*evidence).listsAll, want: func(x *evidence) { x.wantAllListed(true) }},
	},
	{
		ID: "pets.list.same", Clause: "list-shows", Title: "a list shows a pet as it was added", Writes: true,
		Why:     "The list replaces GET /pets/{petId} and must show the same pets.",
		Failure: "The name, categoryId or status in the list differs from what was sent on creation.",
		run: func(t *tester) {
			pets := t.samples()
			for _, status := range append(statuses(), "") {
				if l := t.listing(status); slices.ContainsFunc(pets, func(p pet) bool { return l.has(p.ID) }) {
					return
				}
			}
			assume("no list shows the pets that were added", func() { t.listingWith(pets[0]) })
		},
		every: &rule{what: "lists with a pet of the run", applies: (*evidence).listsAdded, want: func(x *evidence) {
			for _, p := range x.list.pets {
				if added, ok := x.run.added[p.ID]; ok {
					x.list.wantSame(added.pet)
				}
			}
		}},
	},
	{
		ID: "pets.list.changed", Clause: "list-shows", Title: "a list that has changed gets no 304", Writes: true,
		Why:     "Browsers and caches send If-None-Match by themselves, and take a 304 to say that the old list is still right.",
		Failure: "A list has an ETag. A pet is added, and a list shows it. Then a request with the old ETag in If-None-Match still gets 304. A target without a strong ETag is not judged.",
		run: func(t *tester) {
			path := allPets("sold")
			r, etag := probe.Get(path), t.get(path).Header.Get("ETag")
			if etag == "" || strings.HasPrefix(etag, "W/") { // a weak one may be a time in seconds (RFC 9110, section 8.8.1)
				return
			}
			added := need("no list shows a new pet", func() pet {
				_, added := t.listingWith(t.add("sold"))
				return added
			})
			r.Header = []probe.Field{{Name: "If-None-Match", Value: etag}}
			if x := t.do(r); x.Status == http.StatusNotModified && t.listing("sold").has(added.ID) {
				fail(x, "the list gets 304 for the ETag %s, which it had before the pet %d was added", etag, added.ID)
			}
		},
	},
}

// wantListed ends the check if x, the response to a request for a list, is not 200.
func (x *evidence) wantListed() { x.wantSuccess("a list is requested with a valid key", "200") }

// listsAll reports whether x is a list with the largest limit that should have every
// pet that matches.
func (x *evidence) listsAll() bool {
	return x.isList() && x.query != nil && x.query.limit == 100 && x.list.complete
}

// listsAdded reports whether x is a list that has a pet of the run.
func (x *evidence) listsAdded() bool {
	return x.isList() && slices.ContainsFunc(x.list.pets, func(p pet) bool { _, ok := x.run.added[p.ID]; return ok })
}

// wantAllListed ends the check if x, a list of all pets, lacks one that was added
// before. If late, a list with a status is wrong only if a later one has the pet. If
// not late, it is wrong only if no later one has it.
func (x *evidence) wantAllListed(late bool) {
	for _, p := range x.run.s.lacks(x.list, x.query.status) {
		const lacks = "the list of %d pets does not have the pet that was added before with the id %d"
		shownLater := x.later(func(y *evidence) bool { return y.list.has(p.ID) })
		switch {
		case late && shownLater:
			fail(x.Exchange, lacks+"; a later list has it", len(x.list.pets), p.ID)
		case late == (x.query.status == "") && !shownLater:
			fail(x.Exchange, lacks, len(x.list.pets), p.ID)
		}
	}
}

// later reports whether is returns true for a later list with the same query.
func (x *evidence) later(is func(*evidence) bool) bool {
	return slices.ContainsFunc(x.run.all, func(y *evidence) bool {
		return y.Sent.After(x.Sent) && y.isList() && y.query != nil && *y.query == *x.query && is(y)
	})
}

// filterChecks are about the parameter status (contract, sections 3.1 and 4.1).
func filterChecks() []Check {
	var checks []Check
	for _, status := range statuses() {
		checks = append(checks,
			Check{
				ID: "pets.list.filter." + status + ".only", Clause: "filter", Title: "status=" + status + " lists no other pets",
				Why:     "A client that requests pets with one status would use others.",
				Failure: "The list has a pet with another status, or with none.",
				phase:   late, run: func(t *tester) {
					t.addSamples() // there are other pets too
					for _, query := range []string{"?status=" + status, "?limit=100&status=" + status, "?status=" + status + "&limit=1"} {
						t.getList(query)
					}
				},
				every: &rule{
					what:    "lists with pets and the filter " + status,
					applies: func(x *evidence) bool { return x.hasElements() && x.query != nil && x.query.status == status },
					want:    (*evidence).wantFiltered,
				},
			},
			Check{
				ID: "pets.list.filter." + status + ".all", Clause: "filter", Title: "status=" + status + " lists every such pet", Writes: true,
				Why:     "No client can find a pet that the filter loses.",
				Failure: "A list that is short enough to have every pet with the status does not have one that was added with it, and no later list has it. Inconclusive if there are more than a list can show.",
				run: func(t *tester) {
					for _, added := range t.samples() {
						if added.Status == status {
							t.listingWith(added)
						}
					}
				},
				every: &rule{
					what: "lists of all pets with the status " + status, mayBeIdle: true,
					applies: func(x *evidence) bool { return x.listsAll() && x.query.status == status },
					want:    func(x *evidence) { x.wantAllListed(false) },
				},
			})
	}
	return append(checks, Check{
		ID: "pets.list.filter.none", Clause: "list-shows", Title: "without status a list has pets with every status", Writes: true,
		Why:     "The filter is optional: without it nothing is hidden.",
		Failure: "A list that is short enough to have every pet has none with a certain status, or none without a status. Inconclusive if a longer list has none.",
		run: func(t *tester) {
			pets, l := t.samples(), t.listing("")
			for _, added := range pets {
				alike := func(other pet) bool { return other.Status == added.Status }
				switch {
				case l.has(added.ID), !l.complete && slices.ContainsFunc(l.pets, alike):
				case t.s.lacksPet(l, "", added.ID):
					fail(l.x, "the list without a filter does not have the pet with the id %d and the status %s", added.ID, orAbsent(added.Status))
				default:
					tooMany()
				}
			}
		},
	})
}

// wantFiltered ends the check if x, a list, has a pet that its filter excludes.
func (x *evidence) wantFiltered() {
	for _, p := range x.list.pets {
		if !p.has(x.query.status) {
			fail(x.Exchange, "the list of pets with status %s has another pet: its status is %s%s", x.query.status, orAbsent(p.Status), x.list.show(p.ID))
		}
	}
}
