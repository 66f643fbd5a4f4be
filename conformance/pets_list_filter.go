package conformance

import (
	"fmt"
	"slices"

	"example.com/animalstore/conformance/internal/probe"
)

// filterChecks are about the parameter status (contract, sections 3.1 and 4.1).
func filterChecks() []Check {
	var checks []Check
	for _, status := range statuses() {
		checks = append(checks,
			Check{
				ID: "pets.list.filter." + status + ".only", Title: "status=" + status + " lists no other pets",
				Why:     "A client that requests pets with one status would use others.",
				Failure: "The list has a pet with another status, or with none.",
				late:    true, run: func(t *tester) error { return t.filterOnly(status) },
			},
			Check{
				ID: "pets.list.filter." + status + ".all", Title: "status=" + status + " lists every such pet", Writes: true,
				Why:     "No client can find a pet that the filter loses.",
				Failure: "A list that is short enough to have every pet with the status does not have one that was added with it. Inconclusive if there are more than a list can show.",
				run:     func(t *tester) error { return t.filterAll(status) },
			})
	}
	return checks
}

func (t *tester) filterOnly(status string) error {
	if err := t.addSamples(); err != nil { // there are other pets too
		return err
	}
	seen := 0
	for _, query := range []string{"?status=" + status, "?limit=100&status=" + status, "?status=" + status + "&limit=1"} {
		x, elements, err := t.getList(query)
		if err != nil {
			return err
		}
		for i, v := range elements {
			o, err := probe.ParseObject(v)
			if err != nil {
				return undecidedf("element %d of the list %v", i, err)
			}
			got, err := o.Str("status")
			if err == nil && got != status {
				err = fmt.Errorf("status: is %q", got)
			}
			if err != nil {
				return violationf(x, "the list of pets with status %s has another pet: %v%s", status, err, showElement(i, v))
			}
		}
		seen += len(elements)
	}
	if seen == 0 {
		return undecidedf("no pet has the status %s", status)
	}
	return nil
}

func (t *tester) filterAll(status string) error {
	pets, err := t.samples()
	if err != nil {
		return err
	}
	for _, added := range pets {
		if added.Status == status {
			if _, _, err := t.listingWith(added); err != nil {
				return err
			}
		}
	}
	return nil
}

var filterNone = Check{
	ID: "pets.list.filter.none", Title: "without status a list has pets with every status", Writes: true,
	Why:     "The filter is optional: without it nothing is hidden.",
	Failure: "A list that is short enough to have every pet has none with a certain status, or none without a status. Inconclusive if a longer list has none.",
	run: func(t *tester) error {
		pets, err := t.samples()
		if err != nil {
			return err
		}
		l, err := t.listing("")
		if err != nil {
			return err
		}
		for _, added := range pets {
			_, ok := l.find(added.ID)
			alike := func(other pet) bool { return other.Status == added.Status }
			switch {
			case ok, !l.complete && slices.ContainsFunc(l.pets, alike):
			case l.complete:
				return violationf(l.x, "the list without a filter does not have the pet with the id %d and the status %s", added.ID, orAbsent(added.Status))
			default:
				return undecidedf("the store has more pets than a list can show")
			}
		}
		return nil
	},
}
