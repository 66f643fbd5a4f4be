package conformance

import (
	"errors"
	"net/http"
)

// listChecks are about GET /pets itself (contract, sections 2.2, 2.3, 4.1).
func listChecks() []Check {
	return []Check{
		{
			ID: "pets.list.status", Title: "GET /pets answers 200",
			Clause: "list", Level: Required, Feature: FeaturePets,
			Why:     "It is the one way to see what the store holds.",
			Failure: "Any other status for a list asked for with a valid key, without parameters or with valid ones.",
			stage:   stageMany, run: listStatus,
		},
		{
			ID: "pets.list.media-type", Title: "a list is application/json",
			Clause: "media-type", Level: Required, Feature: FeaturePets,
			Why:     "Clients choose by the media type how to read a body, or refuse it.",
			Failure: "Another Content-Type, or none, to a client that accepts application/json or anything. Parameters such as charset do not matter.",
			run:     listMediaType,
		},
		{
			ID: "pets.list.array", Title: "a list is a bare array",
			Clause: "array", Level: Required, Feature: FeaturePets,
			Why:     "A client that expects an array cannot read an object around it.",
			Failure: "A body that is no JSON, or no array: an object with the list in a member, null.",
			run:     listArray,
		},
		{
			ID: "pets.list.empty", Title: "a list without pets is an empty array",
			Clause: "array", Level: Required, Feature: FeaturePets,
			Why:     "A client that loops over the list must not have to know null, 204 or 404.",
			Failure: "A filter that no pet matches gets another status than 200, or another body than []. Inconclusive where every filter matched something when the run began.",
			run:     listEmpty,
		},
		{
			ID: "pets.list.pet", Title: "every pet in a list has its fields, each of its type",
			Clause: "pet", Level: Required, Feature: FeaturePets,
			Why:     "Typed clients fail on the first pet that is none.",
			Failure: "A member that is missing or of another type, a status outside the enumeration (null too), an id or categoryId that is no int64.",
			stage:   stageMany, run: listPets,
		},
		{
			ID: "pets.list.ids", Title: "no two pets in a list have the same id",
			Clause: "id-unique", Level: Required, Feature: FeaturePets,
			Why:     "Clients keep pets by id; one would overwrite the other.",
			Failure: "The same id twice in one answer.",
			stage:   stageMany, run: listIDs,
		},
		{
			ID: "pets.list.created", Title: "a pet just added is in the list at once",
			Clause: "list-shows", Level: Required, Feature: FeaturePets, Writes: true,
			Why:     "Whoever adds a pet and then lists must see it.",
			Failure: "A list that is short enough to hold every pet lacks one whose creation was answered. Inconclusive where the store holds more than any list can show.",
			run:     listCreated,
		},
		{
			ID: "pets.list.same", Title: "a list shows a pet as it was added",
			Clause: "list-shows", Level: Required, Feature: FeaturePets, Writes: true,
			Why:     "The list is the replacement for fetching a single pet, and must say the same.",
			Failure: "Name, categoryId or status in the list differ from what was given on creation.",
			run:     listSame,
		},
	}
}

func listStatus(p *probe) error {
	_ = p.someOfEach() // without them there is a list all the same
	for _, query := range []string{"", "?limit=1", "?limit=20", "?limit=100", "?status=available", "?limit=100&status=sold", "?status=pending&limit=1"} {
		x, err := p.get("/pets" + query)
		if err != nil {
			return err
		}
		if err := p.want(x, 200, "a list is asked for with a valid key"); err != nil {
			return err
		}
	}
	return nil
}

// aList returns an answer with a list, for checks of what is in it.
func (p *probe) aList(query string) (*exchange, error) {
	x, err := p.get("/pets" + query)
	if err != nil {
		return nil, err
	}
	if x.status != http.StatusOK {
		return nil, asUndecided(p.want(x, 200, "a list is asked for"), "there is no list")
	}
	return x, nil
}

func listMediaType(p *probe) error {
	anything := get("/pets")
	anything.accepts = "*/*"
	for _, r := range []request{get("/pets"), get("/pets?limit=1"), get("/pets?status=sold"), anything} {
		x, err := p.do(r)
		if err != nil {
			return err
		}
		if x.status != http.StatusOK {
			return asUndecided(p.want(x, 200, "a list is asked for"), "there is no list")
		}
		if err := x.isJSON(); err != nil {
			return err
		}
	}
	return nil
}

func listArray(p *probe) error {
	_ = p.someOfEach() // without them there is a list all the same
	for _, query := range []string{"", "?limit=1", "?limit=100", "?status=available", "?status=pending&limit=5"} {
		x, err := p.aList(query)
		if err != nil {
			return err
		}
		if _, err := x.list(); err != nil {
			return err
		}
	}
	return nil
}

// listEmpty looks at the lists from before anything was created: only then
// is there a chance that a filter matches nothing.
func listEmpty(p *probe) error {
	var empty bool
	for _, status := range statuses() {
		x := p.s.start.byStatus[status]
		if x == nil || x.status == 0 {
			continue
		}
		p.exchanges = append(p.exchanges, x)
		if err := p.want(x, 200, "a filter that is valid"); err != nil {
			return err
		}
		elements, err := x.list()
		if err != nil {
			return err
		}
		empty = empty || len(elements) == 0
	}
	if !empty {
		return undecidedf("every filter matched pets when the run began")
	}
	return nil
}

func listPets(p *probe) error {
	if err := p.someOfEach(); err != nil {
		return err
	}
	seen := 0
	for _, query := range []string{"", "?limit=100", "?limit=100&status=available", "?limit=100&status=pending", "?limit=100&status=sold"} {
		x, err := p.aList(query)
		if err != nil {
			return err
		}
		elements, err := x.list()
		if err != nil {
			return asUndecided(err, "there is no list")
		}
		for i, v := range elements {
			if _, err := readPet(v); err != nil {
				return violationf(x, "the list holds what is no Pet: %v%s", err, showElement(i, v))
			}
			seen++
		}
	}
	if seen == 0 {
		return undecidedf("the store holds no pet")
	}
	return nil
}

func listIDs(p *probe) error {
	if err := p.someOfEach(); err != nil {
		return err
	}
	for _, status := range append(statuses(), "") {
		l, err := p.listing(status)
		if err != nil {
			return err
		}
		seen := make(map[int64]bool)
		for _, found := range l.pets {
			if seen[found.ID] {
				return violationf(l.x, "two pets in the list have the id %d%s", found.ID, l.x.showElements(found.ID))
			}
			seen[found.ID] = true
		}
	}
	return nil
}

func listCreated(p *probe) error {
	pets, err := p.kinds()
	if err != nil {
		return err
	}
	l, err := p.listing("")
	if err != nil {
		return err
	}
	seen := 0
	for _, added := range pets {
		if _, ok := l.find(added.ID); ok {
			seen++
			continue
		}
		if l.whole {
			return violationf(l.x, "the list of %d pets lacks the one that was just added as %d", len(l.pets), added.ID)
		}
		switch _, _, err := p.inFiltered(added); {
		case err == nil:
			seen++
		case !errors.As(err, new(*undecided)):
			return err
		}
	}
	if seen == 0 {
		return undecidedf("the store holds more pets than a list can show")
	}
	return nil
}

func listSame(p *probe) error {
	pets, err := p.kinds()
	if err != nil {
		return err
	}
	seen := false
	for _, status := range append(statuses(), "") {
		l, err := p.listing(status)
		if err != nil {
			return err
		}
		for _, added := range pets {
			if _, ok := l.find(added.ID); ok {
				seen = true
				if err := l.showsAs(added); err != nil {
					return err
				}
			}
		}
	}
	if seen {
		return nil
	}
	l, added, err := p.inFiltered(pets[0])
	if err != nil {
		return asUndecided(err, "no list shows the pets that were added")
	}
	return l.showsAs(added)
}
