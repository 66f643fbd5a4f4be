package conformance

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// filterChecks are about the parameter status (contract, sections 3.1, 4.1).
func filterChecks() []Check {
	var checks []Check
	for _, status := range statuses() {
		checks = append(checks,
			Check{
				ID: "pets.list.filter." + status + ".only", Title: "status=" + status + " lists no other pets",
				Clause: "filter", Level: Required, Feature: FeaturePets,
				Why:     "A client that asks for pets of one status would take others for them.",
				Failure: "The list holds a pet of another status, or of none.",
				stage:   stageMany,
				run:     func(p *probe) error { return p.filterOnly(status) },
			},
			Check{
				ID: "pets.list.filter." + status + ".all", Title: "status=" + status + " lists every such pet",
				Clause: "filter", Level: Required, Feature: FeaturePets, Writes: true,
				Why:     "What the filter loses, no client can find.",
				Failure: "A list that is short enough to hold every pet of the status lacks one that was added with it. Inconclusive where there are more than a list can show.",
				run:     func(p *probe) error { return p.filterAll(status) },
			})
	}
	return append(checks,
		Check{
			ID: "pets.list.filter.none", Title: "without status a list holds pets of every status",
			Clause: "filter", Level: Required, Feature: FeaturePets, Writes: true,
			Why:     "The filter is optional; leaving it out must hide nothing.",
			Failure: "A list that is short enough to hold every pet lacks those of a status, or those without. Inconclusive where a longer one shows none of a status.",
			run:     filterNone,
		},
	)
}

// hasOnly says what is wrong if a list holds a pet of another status.
func hasOnly(x *exchange, elements []jsontext.Value, status string) error {
	for i, v := range elements {
		o, err := parseObject(v)
		if err != nil {
			return undecidedf("element %d of the list %v", i, err)
		}
		if got, err := o.str("status"); err != nil || got != status {
			if err == nil {
				err = fmt.Errorf("status: is %q", got)
			}
			return violationf(x, "the list of pets that are %s holds another: %v%s", status, err, showElement(i, v))
		}
	}
	return nil
}

func (p *probe) filterOnly(status string) error {
	if err := p.someOfEach(); err != nil { // there are others to be kept out
		return err
	}
	seen := 0
	for _, query := range []string{"?status=" + status, "?limit=100&status=" + status, "?status=" + status + "&limit=1"} {
		x, err := p.get("/pets" + query)
		if err != nil {
			return err
		}
		if err := p.want(x, 200, "the query is valid"); err != nil {
			return err
		}
		elements, err := x.list()
		if err != nil {
			return asUndecided(err, "there is no list")
		}
		if err := hasOnly(x, elements, status); err != nil {
			return err
		}
		seen += len(elements)
	}
	if seen == 0 {
		return undecidedf("no pet is %s", status)
	}
	return nil
}

func (p *probe) filterAll(status string) error {
	pets, err := p.kinds()
	if err != nil {
		return err
	}
	for _, added := range pets {
		if added.Status == status {
			if _, _, err := p.inFiltered(added); err != nil {
				return err
			}
		}
	}
	return nil
}

func filterNone(p *probe) error {
	pets, err := p.kinds()
	if err != nil {
		return err
	}
	l, err := p.listing("")
	if err != nil {
		return err
	}
	for _, added := range pets {
		_, ok := l.find(added.ID)
		alike := func(other pet) bool { return other.Status == added.Status }
		switch {
		case ok, !l.whole && slices.ContainsFunc(l.pets, alike):
		case l.whole:
			return violationf(l.x, "the list without a filter lacks the pet %d, whose status is %s", added.ID, orNone(added.Status))
		default:
			return undecidedf("the store holds more pets than a list can show")
		}
	}
	return nil
}
