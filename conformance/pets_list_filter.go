package conformance

import (
	"slices"
)

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

// wantFiltered ends the check if x, a list with a filter, has a pet with another
// status.
func (x *evidence) wantFiltered() {
	for _, p := range x.list.pets {
		if p.Status != x.query.status {
			fail(x.Exchange, "the list of pets with status %s has another pet: its status is %s%s", x.query.status, orAbsent(p.Status), x.list.show(p.ID))
		}
	}
}
