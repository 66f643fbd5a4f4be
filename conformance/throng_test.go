package conformance_test

import (
	"slices"
	"strings"
	"testing"

	"example.com/animalstore/conformance"
	"example.com/animalstore/petstore"
)

// If other clients add more pets than a list shows, a check tries again with a pet
// that it just added, and still finds violations.
func TestThrong(t *testing.T) {
	newest := ordered(func(p []petstore.Pet) { slices.Reverse(p) })
	counting := func(s petstore.Service) petstore.Service { return thronged(40, 0)(filled(500)(s)) }
	newestFirst := func(s petstore.Service) petstore.Service { return newest(thronged(300, 0)(filled(500)(s))) }
	otherCategory := objects(list, 200, func(o object) { o["categoryId"] = []byte("5") })
	hidden := objects(list, 200, func(o object) {
		if string(o["status"]) == `"sold"` {
			o["status"] = quoted("pending")
		}
	})
	for _, tt := range []struct {
		name  string
		v     variant
		check string
		want  conformance.Verdict
	}{
		{"nothing is stored", variant{pets: counting}, "pets.create.refused", conformance.Pass},
		{"the refused is stored", variant{pets: counting, http: storesRefused(400, "")}, "pets.create.refused", conformance.Fail},
		{"nothing is stored without a key", variant{pets: counting}, "pets.create.unauthorized", conformance.Pass},
		{"it is stored without a key", variant{pets: counting, http: storesRefused(401, testKey)}, "pets.create.unauthorized", conformance.Fail},

		{"the newest shows", variant{pets: newestFirst}, "pets.list.created", conformance.Pass},
		{"the newest is filtered", variant{pets: newestFirst}, "pets.list.filter.pending.all", conformance.Pass},
		{"the newest is as it was", variant{pets: newestFirst}, "pets.list.same", conformance.Pass},
		{"the newest is not as it was", variant{pets: newestFirst, http: otherCategory}, "pets.list.same", conformance.Fail},
		{"every status shows", variant{pets: newestFirst}, "pets.list.filter.none", conformance.Pass},
		{"a status may not show", variant{pets: newestFirst, http: hidden}, "pets.list.filter.none", conformance.Inconclusive},
		{"the oldest show", variant{pets: counting}, "pets.list.created", conformance.Inconclusive},
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
