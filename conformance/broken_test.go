package conformance_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/animalstore/conformance"
)

// broken is a server that is broken.
type broken struct {
	name   string
	checks string // the IDs of the checks that must fail, the last to do so at the end
	http   wrapper
	pets   func(*store)
}

// Every broken server fails its checks, and every check finds a broken server. A run ends
// after the scenario in which the last of them fails; with -args -full, it is whole.
func TestBrokenServers(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	found := make(map[string]int) // by ID of a check
	names := make(map[string]bool)
	ran := 0
	judge := func(t *testing.T, b broken, opts conformance.Options) {
		if names[b.name] {
			t.Errorf("two broken servers are named %q", b.name)
		}
		names[b.name] = true
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			checks := strings.Fields(b.checks)
			v := variant{http: b.http, pets: b.pets, opts: opts}
			if !*full {
				v.until = checks[len(checks)-1]
			}
			r := run(t, v)
			mu.Lock()
			defer mu.Unlock()
			ran++
			var failed []string
			for _, result := range r.Results {
				if result.Violations > 0 {
					failed = append(failed, result.ID)
					found[result.ID]++
				}
			}
			for _, check := range checks {
				if !slices.Contains(failed, check) {
					t.Errorf("%s does not fail, but %v; %s %s", check, failed, r.Conclusion, r.Reason)
				}
			}
		})
	}
	t.Run("servers", func(t *testing.T) {
		for _, b := range slices.Concat(brokenLists(), brokenCreations(), brokenFetches(), brokenAuth(), brokenMessages(), brokenResponses()) {
			judge(t, b, conformance.Options{})
		}
		for _, b := range brokenLimits() { // which a run that only reads many pets finds
			change := b.pets
			b.pets = func(s *store) {
				filled(150)(s)
				if change != nil {
					change(s)
				}
			}
			judge(t, b, conformance.Options{ReadOnly: !*full})
		}
	})
	if ran < len(names) { // -run selects servers
		return
	}
	t.Logf("%d broken servers, %d checks that find one", ran, len(found))
	for _, c := range conformance.Checks() {
		if found[c.ID] == 0 {
			t.Errorf("%s (%s) finds no broken server", c.ID, c.Level)
		}
	}
}
