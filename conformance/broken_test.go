package conformance_test

import (
	"slices"
	"sync"
	"testing"

	"example.com/animalstore/conformance"
)

// brokenServers returns every server that violates a clause.
func brokenServers() []variant {
	return slices.Concat(brokenLists(), brokenCreations(), lenientServers(), brokenFetches(),
		openServers(), brokenErrors(), brokenMessages(), laxServers())
}

// violated returns the checks of v's clause that v fails.
func violated(t *testing.T, v variant) []string {
	t.Helper()
	cl, _ := conformance.FindClause(v.clause)
	v.opts.Run = idsOf(cl)
	v.opts.Seed = 1
	v.opts.Parallel = 1 // so that the result is the same every time
	var ids []string
	for _, result := range run(t, v, v.opts).Results {
		if result.CountsAgainst(conformance.Recommended) {
			ids = append(ids, result.ID)
		}
	}
	return ids
}

// Every broken server fails a check of the clause that it violates, and every
// check finds a broken server.
func TestBroken(t *testing.T) {
	var mu sync.Mutex
	count := make(map[string]int) // by ID of a check
	clauses := make(map[string]bool)
	names := make(map[string]bool)
	t.Run("servers", func(t *testing.T) {
		for _, v := range brokenServers() {
			if names[v.name] {
				t.Errorf("two broken servers are named %q", v.name)
			}
			names[v.name] = true
			clauses[v.clause] = true
			t.Run(v.name, func(t *testing.T) {
				t.Parallel()
				ids := violated(t, v)
				if len(ids) == 0 {
					t.Errorf("no check of the clause %q fails", v.clause)
				}
				mu.Lock()
				defer mu.Unlock()
				for _, id := range ids {
					count[id]++
				}
			})
		}
	})
	t.Logf("%d broken servers, %d checks that find one", len(names), len(count))
	for _, c := range conformance.Checks() {
		if c.Level != conformance.Observed && count[c.ID] == 0 {
			t.Errorf("%s (%s, clause %s) finds no broken server", c.ID, c.Level, c.Clause)
		}
	}
	for _, cl := range conformance.Clauses() {
		if cl.Untestable == "" && !cl.Open && !clauses[cl.ID] {
			t.Errorf("no server violates the clause %q", cl.ID)
		}
	}
}
