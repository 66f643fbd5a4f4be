package conformance_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/animalstore/conformance"
)

func threeHoursAgo(next http.Handler) http.Handler {
	return objects(submit, 202, func(o object) {
		o["createdAt"] = quoted(time.Now().UTC().Add(-3 * time.Hour).Format(time.RFC3339))
	})(next)
}

func strictScheme(op string) wrapper {
	return requests(op, func(r *http.Request) {
		if strings.HasPrefix(r.Header.Get("Authorization"), "bearer ") {
			r.Header.Del("Authorization")
		}
	})
}

func withCategory(n int64) conformance.Options { return conformance.Options{Category: &n} }

// brokenServers returns every broken server, in the order of the clauses.
func brokenServers() []variant {
	all := slices.Concat(brokenLists(), brokenCreations(), lenientServers(), brokenFetches(),
		openServers(), brokenErrors(), brokenMessages(), laxServers())
	order := map[string]int{}
	for i, c := range conformance.Clauses() {
		order[c.ID] = i
	}
	slices.SortStableFunc(all, func(a, b variant) int {
		if n := order[a.clause] - order[b.clause]; n != 0 {
			return n
		}
		return strings.Compare(a.name, b.name)
	})
	return all
}

// kill is a broken server and the checks of its clause that caught it.
type kill struct {
	variant
	caught []string
}

// kills judges every broken server by the checks of its clause.
var kills = sync.OnceValues(func() ([]kill, error) {
	servers := brokenServers()
	killed := make([]kill, len(servers))
	errs := make([]error, len(servers))
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i, v := range servers {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			killed[i] = kill{variant: v}
			killed[i].caught, errs[i] = judge(v)
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return killed, &brokenError{servers[i].name, err}
		}
	}
	return killed, nil
})

type brokenError struct {
	server string
	err    error
}

func (e *brokenError) Error() string { return e.server + ": " + e.err.Error() }

// judge returns the checks of v's clause that find v at fault.
func judge(v variant) ([]string, error) {
	srv := newLoopback(v.handler())
	defer srv.Close()
	opts := v.opts
	opts.Run = ofClause(v.clause)
	opts.Seed, opts.Timeout = 1, time.Minute
	opts.Parallel = 1 // so that what catches what is the same every time
	r, err := conformance.Run(background(), conformance.Target{URL: srv.URL + "/v1", MessagesURL: srv.URL + "/v1", Key: testKey}, &opts)
	if err != nil {
		return nil, err
	}
	var caught []string
	for _, result := range r.Results {
		if result.Verdict == conformance.Fail || result.Verdict == conformance.Warn {
			caught = append(caught, result.ID)
		}
	}
	return caught, nil
}

// TestKill holds the suite against servers that are each broken in one way.
func TestKill(t *testing.T) {
	killed, err := kills()
	if err != nil {
		t.Fatal(err)
	}
	kills := make(map[string]int)
	names := make(map[string]bool)
	for _, k := range killed {
		if names[k.name] {
			t.Errorf("two broken servers are named %q", k.name)
		}
		names[k.name] = true
		if len(k.caught) == 0 {
			t.Errorf("%s: no check of the clause %q catches it", k.name, k.clause)
		}
		for _, id := range k.caught {
			kills[id]++
		}
	}
	t.Logf("%d broken servers, %d checks that catch one", len(killed), len(kills))
	for _, c := range conformance.Checks() {
		if c.Level != conformance.Observed && kills[c.ID] == 0 {
			t.Errorf("%s (%s, clause %s) catches no broken server", c.ID, c.Level, c.Clause)
		}
	}
	for _, cl := range conformance.Clauses() {
		if cl.Untestable == "" && !cl.Open && !slices.ContainsFunc(killed, func(k kill) bool { return k.clause == cl.ID }) {
			t.Errorf("no server breaks the clause %q", cl.ID)
		}
	}
}
