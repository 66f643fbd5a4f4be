package conformance

import (
	"fmt"

	"example.com/animalstore/conformance/internal/probe"
)

// The parameter limit (contract, sections 4.1 and 8). These checks add pets
// until the target has more than the limit.

const limitWhy = "Clients choose the size of their pages by it."

var limitChecks = []Check{
	limitCheck("limit-default", "default", "without limit a list has 20 pets", "", "", 20, 21),
	limitCheck("limit-default", "default-filtered", "without limit a filtered list has 20 pets", "?status=available", "available", 20, 21),
	limitCheck("limit-min", "min", "limit=1 returns one pet", "?limit=1", "", 1, 2),
	limitCheck("limit-max", "max", "limit=100 returns a hundred pets", "?limit=100", "", 100, 100),
	{
		ID: "pets.list.limit.between", Clause: "limit", Title: "every limit returns that number of pets",
		Why:     limitWhy,
		Failure: "A list with a limit of 2, 19, 20, 21, 50 or 99 has fewer or more pets, though the store has enough.",
		phase:   late, run: func(t *tester) {
			for _, limit := range []int{2, 19, 20, 21, 50, 99} {
				t.wantLimit(fmt.Sprintf("?limit=%d", limit), "", limit, 100)
			}
		},
	},
	{
		ID: "pets.list.limit.above", Clause: "limit-max", Title: "no list has more than a hundred pets",
		Why:     "The maximum is there so that one request cannot read the whole store.",
		Failure: "With at least 101 pets in the store, limit=101 or limit=1000 returns more than 100. The status of the response is not judged.",
		phase:   late, run: func(t *tester) {
			tooFew := attempt(func() { t.stock("", 101) })
			for _, query := range []string{"?limit=101", "?limit=1000"} {
				x := t.get("/pets" + query) // the target may refuse the limit
				if elements, _ := guess(x, probe.ParseArray); x.Status == 200 && len(elements) > 100 {
					fail(x, "the list has %d pets, want at most 100", len(elements))
				}
			}
			tooFew.end()
		},
	},
	{
		ID: "pets.list.limit.filtered", Clause: "filter-limit", Title: "limit applies to a filtered list, after the filter",
		Why:     "If the limit is applied before the filter, pets that match are missing.",
		Failure: "With at least 3 pets with a status, the list of that status with limit 1, 2 or 3 has fewer or more.",
		phase:   late, run: func(t *tester) {
			for _, status := range statuses() {
				for _, limit := range []int{1, 2, 3} {
					t.wantLimit(fmt.Sprintf("?limit=%d&status=%s", limit, status), status, limit, 3)
				}
			}
		},
	},
}

// limitCheck returns a check that the list at query has exactly limit pets. It
// first adds pets with that status ("": with any) until the target has enough of
// them.
func limitCheck(clause, id, title, query, status string, limit, enough int) Check {
	return Check{
		ID: "pets.list.limit." + id, Clause: clause, Title: title, Why: limitWhy,
		Failure: fmt.Sprintf("With at least %d such pets in the store, GET /pets%s does not have %d. Inconclusive for a response of 1 MiB or more, which a target may end early.",
			enough, query, limit),
		phase: late, run: func(t *tester) { t.wantLimit(query, status, limit, enough) },
	}
}

// wantLimit ends the check if the list does not have exactly limit pets. It first
// adds pets with that status until the target has enough.
func (t *tester) wantLimit(query, status string, limit, enough int) {
	tooFew := attempt(func() { t.stock(status, enough) })
	l := t.getList(query)
	n := len(l.elements)
	if n > limit {
		fail(l.x, "the list has %d pets, want at most %d", n, limit)
	}
	tooFew.end()
	if n < limit && len(l.x.Body) >= largeList {
		inconclusive("the list has %d pets in %d bytes: it may end early because of its size", n, len(l.x.Body))
	}
	if n < limit {
		fail(l.x, "the list has %d pets, want %d: the store has at least %d that match", n, limit, t.s.countPets(status))
	}
}
