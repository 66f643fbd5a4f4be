package conformance

import (
	"cmp"
	"fmt"
	"slices"
)

// The parameter limit (contract, sections 4.1 and 8). These checks add pets
// until the target has more than the limit.

const limitWhy = "Clients choose the size of their pages by it."

var limitChecks = []Check{
	limitCheck("limit-default", "default", "unfiltered lists without limit", "without limit a list has at most 20 pets", "a list without limit has more than 20 pets, or fewer than with limit=20.",
		func(q listQuery) bool { return q.limit == 0 && q.status == "" }, sized{listQuery{}, 21}),
	limitCheck("limit-default", "default-filtered", "filtered lists without limit", "without limit a filtered list has at most 20 pets", "a filtered list without limit has more than 20 pets, or fewer than with limit=20.",
		func(q listQuery) bool { return q.limit == 0 && q.status != "" }, sized{listQuery{status: "available"}, 21}),
	limitCheck("limit-min", "min", "unfiltered lists with limit=1", "limit=1 returns one pet", "limit=1 is refused, or the list has more than one pet, or none.",
		func(q listQuery) bool { return q.limit == 1 && q.status == "" }, sized{listQuery{limit: 1}, 2}),
	limitCheck("limit-max", "max", "unfiltered lists with limit=100", "limit=100 is accepted", "limit=100 is refused, or the list has more than 100 pets, or none.",
		func(q listQuery) bool { return q.limit == 100 && q.status == "" }, sized{listQuery{limit: 100}, 100}),
	limitCheck("limit", "between", "unfiltered lists with a limit from 2 to 99", "no list has more pets than its limit", "a list with a limit from 2 to 99 has more pets, or none.",
		func(q listQuery) bool { return q.limit > 1 && q.limit < 100 && q.status == "" }, limitsBetween()...),
	limitCheck("filter-limit", "filtered", "filtered lists with a limit", "limit applies to a filtered list, after the filter", "a filtered list has more pets than its limit, or none.",
		func(q listQuery) bool { return q.limit != 0 && q.status != "" }, limitsFiltered()...),
	{
		ID: "pets.list.limit.above", Clause: "limit-max", Title: "no list has more than a hundred pets",
		Why:     "The maximum is there so that one request cannot read the whole store.",
		Failure: "With at least 101 pets in the store, limit=101 or limit=1000 returns more than 100. The status of the response is not judged.",
		phase:   late, run: func(t *tester) {
			tooFew := attempt(func() { t.stock("", 101) })
			for _, query := range []string{"?limit=101", "?limit=1000"} {
				t.get("/pets" + query) // the target may refuse the limit
			}
			tooFew.end()
		},
		every: &rule{what: "lists", mayBeIdle: true, applies: (*evidence).isList, want: func(x *evidence) {
			if n := len(x.list.elements); n > 100 {
				fail(x.Exchange, "the list of GET %s has %d pets, want at most 100", x.Request.Path, n)
			}
		}},
	},
	{
		ID: "pets.list.limit.full", Clause: "limit-full", Title: "a list has as many pets as its limit allows",
		Why:     "A client that gets fewer pets takes the list for complete.",
		Failure: "The store has more pets that match than a list has, and the limit is larger. A list that links to a further page or has 1 MiB or more may end early.",
		phase:   late, run: func(t *tester) {
			var tooFew *ending
			judged := false
			for _, q := range slices.Concat([]sized{{listQuery{}, 21}, {listQuery{status: "available"}, 21}, {listQuery{limit: 1}, 2}, {listQuery{limit: 100}, 100}},
				limitsBetween(), limitsFiltered()) {
				if tooFew = attempt(func() { t.stock(q.status, q.enough) }); tooFew == nil {
					judged = true
					t.eventually(func() { t.wantFull(q.listQuery) })
				}
			}
			if !judged {
				tooFew.end()
			}
		},
	},
}

// sized is a list whose size is judged if the store has enough pets with its status.
type sized struct {
	listQuery
	enough int
}

func limitsBetween() []sized {
	var all []sized
	for _, n := range []int{2, 19, 20, 21, 50, 99} {
		all = append(all, sized{listQuery{limit: n}, 100})
	}
	return all
}

func limitsFiltered() []sized {
	var all []sized
	for _, status := range statuses() {
		for n := 1; n <= 3; n++ {
			all = append(all, sized{listQuery{status, n}, 3})
		}
	}
	return all
}

// limitCheck returns a check of every list for whose query is returns true; what names
// these lists. The check requests lists, each when the store has enough pets for it.
func limitCheck(clause, id, what, title, failure string, is func(listQuery) bool, lists ...sized) Check {
	return Check{
		ID: "pets.list.limit." + id, Clause: clause, Title: title, Why: limitWhy,
		Failure: fmt.Sprintf("If the store has at least %d pets that match, %s", lists[0].enough, failure),
		phase:   late, run: func(t *tester) {
			for _, q := range lists {
				tooFew := attempt(func() { t.stock(q.status, q.enough) })
				if q.limit != 0 {
					t.getList(q.String())
				} else {
					t.eventually(func() { t.wantDefault(q.status) })
				}
				tooFew.end()
			}
		},
		every: &rule{what: what, applies: func(x *evidence) bool { return x.list.ok && x.query != nil && is(*x.query) }, want: (*evidence).wantLimit},
	}
}

// most returns the largest number of pets that the list may have.
func (q listQuery) most() int { return cmp.Or(q.limit, 20) }

// wantAtMost ends the check if x, a list, has more pets than its limit.
func (x *evidence) wantAtMost() {
	if n := len(x.list.elements); n > x.query.most() {
		fail(x.Exchange, "the list has %d pets, want at most %d", n, x.query.most())
	}
}

// wantLimit ends the check if x, a list, has more pets than its limit, or none though
// the store has some that match and nothing says how to reach them.
func (x *evidence) wantLimit() {
	x.wantAtMost()
	if !x.hasElements() && !hasNext(x.Exchange) && !x.later((*evidence).hasElements) { // pets.list.created reports a late list
		for _, p := range x.run.s.addedPets() {
			if p.valid && p.has(x.query.status) && p.x.Received.Before(x.Sent) {
				fail(x.Exchange, "the list has no pets, and the store has one with the id %d", p.ID)
			}
		}
	}
}

// wantDefault ends the check if a list has fewer pets without limit than with the
// limit that is the default.
func (t *tester) wantDefault(status string) {
	without := listQuery{status: status}
	limit := without.most()
	all, l := t.getList(listQuery{status, limit}.String()), t.getList(without.String())
	if n := len(l.elements); n < len(all.elements) && len(all.elements) == limit && len(l.x.Body) < largeList {
		fail(l.x, "the list has %d pets, and with limit=%d it has %d", n, limit, limit)
	}
}

// wantFull ends the check if a list has fewer pets than its limit. The store has
// enough.
func (t *tester) wantFull(q listQuery) {
	l := t.getList(q.String())
	if n := len(l.elements); n < q.most() && len(l.x.Body) < largeList && !hasNext(l.x) {
		fail(l.x, "the list has %d pets, want %d: the store has at least %d that match", n, q.most(), t.s.countPets(q.status))
	}
}
