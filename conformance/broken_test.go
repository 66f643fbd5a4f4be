package conformance_test

import (
	"slices"
	"sync"
	"testing"

	"example.com/animalstore/conformance"
)

// operations has the operations as the names of broken servers show them.
var operations = map[string]string{list: "GET /pets", create: "POST /pets", fetch: "GET /pets/{petId}", submit: "POST /messages"}

// brokenServers returns every server that is broken.
func brokenServers() []variant {
	return slices.Concat(brokenLists(), brokenCreations(), lenientServers(), brokenFetches(),
		openServers(), brokenErrors(), brokenMessages(), brokenRFCs(), brokenForClients(), brokenFrameworks(), brokenTexts())
}

// Every broken server fails its check, and every check finds a broken server. A run ends
// after the phase in which the check fails; with -args -full, it is whole.
func TestBrokenServers(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	found := make(map[string]int) // by ID of a check
	names := make(map[string]bool)
	ran, servers := 0, brokenServers()
	t.Run("servers", func(t *testing.T) {
		for _, v := range servers {
			if names[v.name] {
				t.Errorf("two broken servers are named %q", v.name)
			}
			names[v.name] = true
			t.Run(v.name, func(t *testing.T) {
				t.Parallel()
				var failed []string
				opts := v.opts
				if !*full {
					opts = conformance.Until(opts, v.check)
				}
				r := run(t, v, opts)
				mu.Lock()
				defer mu.Unlock()
				ran++
				for _, result := range r.Results {
					if result.Violations > 0 {
						failed = append(failed, result.ID)
						found[result.ID]++
					}
				}
				if !slices.Contains(failed, v.check) {
					t.Errorf("%s does not fail, but %v; %s %s", v.check, failed, r.Outcome, r.Reason)
				}
			})
		}
	})
	if ran < len(servers) { // -run selects servers
		return
	}
	t.Logf("%d broken servers, %d checks that find one", len(servers), len(found))
	for _, c := range conformance.Checks() {
		if found[c.ID] == 0 {
			t.Errorf("%s (%s) finds no broken server", c.ID, c.Level)
		}
	}
}
