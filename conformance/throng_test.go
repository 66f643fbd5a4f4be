package conformance_test

import (
	"strings"
	"testing"

	"example.com/animalstore/conformance"
)

// If other clients add more pets than a list shows, a check tries again with a pet
// that it just added, and still finds violations.
func TestThrong(t *testing.T) {
	counting := func(s *store) {
		filled(500)(s)
		thronged(40, 0)(s)
	}
	newestFirst := func(s *store) {
		filled(500)(s)
		thronged(300, 0)(s)
		shown("list-descending")(s)
	}
	otherCategory := set(list, 200, "categoryId", "5")
	hidden := edit(list, 200, `"sold"`, `"pending"`)
	for _, tt := range []struct {
		name  string
		v     variant
		check string
		want  conformance.Verdict
	}{
		{"nothing is stored for a refused request", variant{pets: counting}, "pets.create.refused", conformance.Pass},
		{"a refused pet is stored", variant{pets: counting, http: storesRefused(400)}, "pets.create.refused", conformance.Fail},
		{"nothing is stored for a request without a key", variant{pets: counting}, "pets.create.unauthorized", conformance.Pass},
		{"a pet is stored for a request without a key", variant{pets: counting, http: storesRefused(401)}, "pets.create.unauthorized", conformance.Fail},

		{"the newest pet is listed", variant{pets: newestFirst}, "pets.list.created", conformance.Pass},
		{"the newest pet is listed with its status", variant{pets: newestFirst}, "pets.list.filter.pending.all", conformance.Pass},
		{"the newest pet is listed as it was added", variant{pets: newestFirst}, "pets.list.same", conformance.Pass},
		{"the newest pet is listed with another category", variant{pets: newestFirst, http: otherCategory}, "pets.list.same", conformance.Fail},
		{"pets with every status are listed", variant{pets: newestFirst}, "pets.list.filter.none", conformance.Pass},
		{"no pet with one status is listed", variant{pets: newestFirst, http: hidden}, "pets.list.filter.none", conformance.Inconclusive},
		{"only the oldest pets are listed", variant{pets: counting}, "pets.list.created", conformance.Inconclusive},
	} {
		t.Run(strings.ReplaceAll(tt.name, " ", "_"), func(t *testing.T) {
			// The first check adds many pets after the first pet of the run.
			r := run(t, tt.v, conformance.Options{Run: []string{"pets.create.concurrent", tt.check}, Parallel: 1})
			if got := result(t, r, tt.check); got.Verdict != tt.want {
				t.Errorf("%s: %s, %s", tt.check, got.Verdict, got.Message)
			}
		})
	}
}
