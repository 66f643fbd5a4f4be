package conformance_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/animalstore/conformance"
)

// brokenServers returns every server that violates a clause, in the order of the
// clauses.
func brokenServers() []variant {
	all := slices.Concat(brokenLists(), brokenCreations(), lenientServers(), brokenFetches(),
		openServers(), brokenErrors(), brokenMessages(), laxServers())
	order := map[string]int{}
	for i, cl := range conformance.Clauses() {
		order[cl.ID] = i
	}
	slices.SortStableFunc(all, func(a, b variant) int {
		return cmp.Or(order[a.clause]-order[b.clause], strings.Compare(a.name, b.name))
	})
	return all
}

// finding is a broken server and the checks of its clause that find the
// violation.
type finding struct {
	variant
	checks []string
}

// findings runs against every broken server the checks of its clause.
var findings = sync.OnceValues(func() ([]finding, error) {
	servers := brokenServers()
	found := make([]finding, len(servers))
	errs := make([]error, len(servers))
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i, v := range servers {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			checks, err := violated(v)
			if err != nil {
				errs[i] = fmt.Errorf("%s: %w", v.name, err)
			}
			found[i] = finding{v, checks}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return found, nil
})

// violated returns the checks of v's clause that v fails.
func violated(v variant) ([]string, error) {
	srv := newLoopback(v.handler())
	defer srv.Close()
	cl, _ := conformance.FindClause(v.clause)
	opts := v.opts
	opts.Run = idsOf(cl)
	opts.Seed, opts.Timeout = 1, time.Minute
	opts.Parallel = 1 // so that the findings are the same every time
	r, err := conformance.Run(context.Background(), conformance.Target{URL: srv.URL + "/v1", MessagesURL: srv.URL + "/v1", Key: testKey}, &opts)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, result := range r.Results {
		if result.CountsAgainst(conformance.Recommended) {
			ids = append(ids, result.ID)
		}
	}
	return ids, nil
}

// Every broken server fails a check of the clause that it violates, and every
// check finds a broken server.
func TestBroken(t *testing.T) {
	found, err := findings()
	if err != nil {
		t.Fatal(err)
	}
	count := make(map[string]int) // by ID of a check
	names := make(map[string]bool)
	clauses := make(map[string]bool)
	for _, f := range found {
		if names[f.name] {
			t.Errorf("two broken servers are named %q", f.name)
		}
		names[f.name] = true
		clauses[f.clause] = true
		if len(f.checks) == 0 {
			t.Errorf("%s: no check of the clause %q fails", f.name, f.clause)
		}
		for _, id := range f.checks {
			count[id]++
		}
	}
	t.Logf("%d broken servers, %d checks that find one", len(found), len(count))
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
