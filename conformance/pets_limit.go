package conformance

import (
	"fmt"
)

// limitChecks are about the parameter limit (contract, sections 4.1 and 8).
// They bring enough pets about to tell a limit from a lack of pets.
func limitChecks() []Check {
	exact := func(id, clause, title, query string, limit, stock int) Check {
		return Check{
			ID: "pets.list.limit." + id, Title: title,
			Clause: clause, Level: Required, Feature: FeaturePets,
			Why: "Clients size their pages by it.",
			Failure: fmt.Sprintf("With at least %d pets in the store GET /pets%s does not hold %d. Inconclusive for answers of more than 1 MiB, which a target may end early.",
				stock, query, limit),
			stage: stageMany,
			run:   func(p *probe) error { return p.holds(query, "", limit, stock) },
		}
	}
	return []Check{
		exact("default", "limit-default", "without limit a list holds 20 pets", "", 20, 21),
		{
			ID: "pets.list.limit.default-filtered", Title: "without limit a filtered list holds 20 pets",
			Clause: "limit-default", Level: Required, Feature: FeaturePets,
			Why:     "Clients size their pages by it.",
			Failure: "With at least 21 pets that are available GET /pets?status=available does not hold 20.",
			stage:   stageMany,
			run:     func(p *probe) error { return p.holds("?status=available", "available", 20, 21) },
		},
		exact("min", "limit-min", "limit=1 gives one pet", "?limit=1", 1, 2),
		exact("max", "limit-max", "limit=100 gives a hundred pets", "?limit=100", 100, 100),
		{
			ID: "pets.list.limit.between", Title: "every limit gives as many pets",
			Clause: "limit", Level: Required, Feature: FeaturePets,
			Why:     "Clients size their pages by it.",
			Failure: "A list asked for with a limit of 2, 19, 20, 21, 50 or 99 holds fewer or more pets, though there are enough.",
			stage:   stageMany,
			run: func(p *probe) error {
				for _, limit := range []int{2, 19, 20, 21, 50, 99} {
					if err := p.holds(fmt.Sprintf("?limit=%d", limit), "", limit, 100); err != nil {
						return err
					}
				}
				return nil
			},
		},
		{
			ID: "pets.list.limit.above", Title: "no list holds more than a hundred pets",
			Clause: "limit-max", Level: Required, Feature: FeaturePets,
			Why:     "The maximum is there so that one request cannot ask for the whole store.",
			Failure: "With at least 101 pets in the store, limit=101 or limit=1000 gives more than 100. Which status such a request gets is not judged.",
			stage:   stageMany, run: limitAbove,
		},
		{
			ID: "pets.list.limit.filtered", Title: "limit bounds a filtered list too, and is applied after the filter",
			Clause: "filter-limit", Level: Required, Feature: FeaturePets,
			Why:     "A store that takes the first pets and filters them afterwards hides those that come later.",
			Failure: "With at least 3 pets of a status, the list of that status with limit 1, 2 or 3 holds fewer or more.",
			stage:   stageMany, run: limitFiltered,
		},
	}
}

// holds says what is wrong if the list does not hold exactly limit pets,
// when the target has at least stock of that status.
func (p *probe) holds(query, status string, limit, stock int) error {
	enough := p.stock(status, stock)
	x, err := p.get("/pets" + query)
	if err != nil {
		return err
	}
	if err := p.want(x, 200, "the query is valid"); err != nil {
		return err
	}
	elements, err := x.list()
	switch {
	case err != nil:
		return asUndecided(err, "there is no list")
	case len(elements) > limit:
		return violationf(x, "the list holds %d pets, more than %d", len(elements), limit)
	case enough != nil:
		return enough
	case len(elements) < limit && x.cutForSize():
		return undecidedf("the list holds %d pets in %d bytes: it may end early for its size", len(elements), len(x.body))
	case len(elements) < limit:
		return violationf(x, "the list holds %d pets, not %d, though the store has at least %d that match", len(elements), limit, p.s.atLeast(status))
	}
	return nil
}

func limitAbove(p *probe) error {
	enough := p.stock("", 101)
	for _, query := range []string{"?limit=101", "?limit=1000"} {
		x, err := p.get("/pets" + query)
		if err != nil {
			return err
		}
		if x.status != 200 {
			continue // refusing it is one way to keep to the maximum
		}
		if elements, err := x.list(); err == nil && len(elements) > 100 {
			return violationf(x, "the list holds %d pets, more than the maximum of 100", len(elements))
		}
	}
	return enough
}

func limitFiltered(p *probe) error {
	for _, status := range statuses() {
		for _, limit := range []int{1, 2, 3} {
			query := fmt.Sprintf("?limit=%d&status=%s", limit, status)
			if err := p.holds(query, status, limit, 3); err != nil {
				return err
			}
		}
	}
	return nil
}
