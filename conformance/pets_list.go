package conformance

import (
	"errors"

	"example.com/animalstore/conformance/internal/probe"
)

// GET /pets (contract, sections 2.2, 2.3 and 4.1).

var listStatus = Check{
	ID: "pets.list.status", Title: "GET /pets responds 200",
	Why:     "It is the only way to see what the store has.",
	Failure: "Another status for a list that is requested with a valid key, without parameters or with valid ones.",
	late:    true, run: func(t *tester) error {
		_ = t.addSamples() // without them there is a list too
		for _, query := range []string{"", "?limit=1", "?limit=20", "?limit=100", "?status=available", "?limit=100&status=sold", "?status=pending&limit=1"} {
			x, err := t.get("/pets" + query)
			if err != nil {
				return err
			}
			if err := t.wantStatus(x, 200, "a list is requested with a valid key"); err != nil {
				return err
			}
		}
		return nil
	},
}

var listMediaType = Check{
	ID: "pets.list.media-type", Title: "a list is application/json",
	Why:     "Clients read a body by its media type, or refuse it.",
	Failure: "Another Content-Type, or none, to a client that accepts application/json or anything. Parameters such as charset are ignored.",
	run: func(t *tester) error {
		anything := probe.Get("/pets")
		anything.Accept = "*/*"
		for _, r := range []probe.Request{probe.Get("/pets"), probe.Get("/pets?limit=1"), probe.Get("/pets?status=sold"), anything} {
			x, err := t.requestList(r)
			if err != nil {
				return err
			}
			if err := isJSON(x); err != nil {
				return err
			}
		}
		return nil
	},
}

var listArray = Check{
	ID: "pets.list.array", Title: "a list is a bare array",
	Why:     "A client that expects an array cannot read an object around it.",
	Failure: "A body that is not JSON, or not an array: null, or an object that has the list in a member.",
	run: func(t *tester) error {
		_ = t.addSamples() // without them there is a list too
		for _, query := range []string{"", "?limit=1", "?limit=100", "?status=available", "?status=pending&limit=5"} {
			x, err := t.requestList(probe.Get("/pets" + query))
			if err != nil {
				return err
			}
			if _, err := readList(x); err != nil {
				return err
			}
		}
		return nil
	},
}

var listEmpty = Check{
	ID: "pets.list.empty", Title: "a list without pets is an empty array",
	Why:     "A client that loops over the list should not have to handle null, 204 or 404.",
	Failure: "A filter that matches no pet gets another status than 200, or another body than []. Inconclusive if every filter matched a pet when the run began.",
	run: func(t *tester) error {
		var empty bool
		for _, status := range statuses() {
			x := t.s.start[status] // later, every filter matches
			if x == nil || x.Status == 0 {
				continue
			}
			t.exchanges = append(t.exchanges, x)
			if err := t.wantStatus(x, 200, "the filter is valid"); err != nil {
				return err
			}
			elements, err := readList(x)
			if err != nil {
				return err
			}
			empty = empty || len(elements) == 0
		}
		if !empty {
			return undecidedf("every filter matched a pet when the run began")
		}
		return nil
	},
}

var listPets = Check{
	ID: "pets.list.pet", Title: "every pet in a list has its fields, each of its type",
	Why:     "Typed clients fail on the first pet that is invalid.",
	Failure: "A member is missing or of another type, the status is not in the enumeration (null is not), or the id or categoryId is not an int64.",
	late:    true, run: func(t *tester) error {
		if err := t.addSamples(); err != nil {
			return err
		}
		seen := 0
		for _, path := range []string{"/pets", allPets(""), allPets("available"), allPets("pending"), allPets("sold")} {
			x, err := t.requestList(probe.Get(path))
			if err != nil {
				return err
			}
			elements, err := readList(x)
			if err != nil {
				return asUndecided(err, "there is no list")
			}
			for i, v := range elements {
				if _, err := parsePet(v); err != nil {
					return violationf(x, "the list has an element that is not a Pet: %v%s", err, showElement(i, v))
				}
				seen++
			}
		}
		if seen == 0 {
			return undecidedf("the store has no pets")
		}
		return nil
	},
}

var listIDs = Check{
	ID: "pets.list.ids", Title: "no two pets in a list have the same id",
	Why:     "Clients store pets by id: one would overwrite the other.",
	Failure: "An id is in the same list twice.",
	late:    true, run: func(t *tester) error {
		if err := t.addSamples(); err != nil {
			return err
		}
		for _, status := range append(statuses(), "") {
			l, err := t.listing(status)
			if err != nil {
				return err
			}
			seen := make(map[int64]bool)
			for _, found := range l.pets {
				if seen[found.ID] {
					return violationf(l.x, "two pets in the list have the id %d%s", found.ID, showElements(l.x, found.ID))
				}
				seen[found.ID] = true
			}
		}
		return nil
	},
}

var listCreated = Check{
	ID: "pets.list.created", Title: "a pet is in the list as soon as it is added", Writes: true,
	Why:     "A client that adds a pet and then lists must see it.",
	Failure: "A list that is short enough to have every pet does not have one that was added. Inconclusive if the store has more than a list can show.",
	run: func(t *tester) error {
		pets, err := t.samples()
		if err != nil {
			return err
		}
		l, err := t.listing("")
		if err != nil {
			return err
		}
		seen := 0
		for _, added := range pets {
			if _, ok := l.find(added.ID); ok {
				seen++
				continue
			}
			if l.complete {
				return violationf(l.x, "the list of %d pets does not have the pet that was just added with the id %d", len(l.pets), added.ID)
			}
			switch _, _, err := t.listingWith(added); {
			case err == nil:
				seen++
			case !errors.As(err, new(*undecided)):
				return err
			}
		}
		if seen == 0 {
			return undecidedf("the store has more pets than a list can show")
		}
		return nil
	},
}

var listSame = Check{
	ID: "pets.list.same", Title: "a list shows a pet as it was added", Writes: true,
	Why:     "The list replaces GET /pets/{petId} and must show the same pets.",
	Failure: "The name, categoryId or status in the list differs from what was sent on creation.",
	run: func(t *tester) error {
		pets, err := t.samples()
		if err != nil {
			return err
		}
		seen := false
		for _, status := range append(statuses(), "") {
			l, err := t.listing(status)
			if err != nil {
				return err
			}
			for _, added := range pets {
				if _, ok := l.find(added.ID); !ok {
					continue
				}
				seen = true
				if err := l.comparePet(added); err != nil {
					return err
				}
			}
		}
		if seen {
			return nil
		}
		l, added, err := t.listingWith(pets[0])
		if err != nil {
			return asUndecided(err, "no list shows the pets that were added")
		}
		return l.comparePet(added)
	},
}
