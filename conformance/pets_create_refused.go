package conformance

import (
	"cmp"
	"maps"
	"net/http"
	"slices"

	"example.com/animalstore/conformance/internal/probe"
)

var createRefused = Check{
	ID: "pets.create.refused", Title: "a request that is refused adds nothing", Writes: true,
	Why:     "A client that corrects its request and repeats it would have the pet twice.",
	Failure: "A pet whose request got 400 is in the store. Inconclusive if the store has more than a list can show.",
	run: func(t *tester) error {
		refused := make(map[string]*probe.Exchange)
		for _, f := range petFaults() {
			r, err := t.sendWrongPet(f)
			if err == nil && r.name != "" && r.x.Refused() { // otherwise pets.create.400.* judge it
				refused[r.name] = r.x
			}
		}
		return t.wantNotStored(refused)
	},
}

var createUnauthorized = Check{
	ID: "pets.create.unauthorized", Title: "a request without a valid credential adds nothing", Writes: true,
	Why:     "Anyone could fill the store.",
	Failure: "A pet whose request got 401 is in the store. Inconclusive if the store has more than a list can show.",
	run: func(t *tester) error {
		unauthorized := make(map[string]*probe.Exchange)
		for _, r := range t.unauthorized(createOperation) {
			unauthorized[r.name] = r.x
		}
		return t.wantNotStored(unauthorized)
	},
}

// wantNotStored returns an error if the store has a pet of a refused request.
// The requests are given by the names of their pets.
func (t *tester) wantNotStored(refused map[string]*probe.Exchange) error {
	if len(refused) == 0 {
		return undecidedf("no request was refused")
	}
	first, err := t.firstPet() // created before any refused request was sent
	if err != nil {
		return asUndecided(err, "no pet could be created")
	}
	last, err := t.add("available")
	if err != nil {
		return err
	}
	// A list that has the first and the last pet has those between them too.
	shown := false
	for _, status := range append([]string{""}, statuses()...) {
		l, err := t.listing(status)
		if err != nil {
			return err
		}
		for _, found := range l.pets {
			if err := wasRefused(l.x, found, refused); err != nil {
				return violationf(l.x, "%v%s", err, showElements(l.x, found.ID))
			}
		}
		_, hasFirst := l.find(first.pet.ID)
		_, hasLast := l.find(last.ID)
		shown = shown || status == "" && l.complete || hasFirst && hasLast
	}
	if shown {
		return nil
	}
	if close, err := t.searchBetween(first.pet.ID, last.ID, refused); close || err != nil {
		return err
	}
	return t.refuseAgain(refused)
}

// wasRefused returns a violation if found is the pet of a refused request.
func wasRefused(x *probe.Exchange, found pet, refused map[string]*probe.Exchange) error {
	if r := refused[found.Name]; r != nil {
		return violationf(x, "the pet %q is in the store, though its request got %s", found.Name, r.StatusLine())
	}
	return nil
}

// refuseAgain sends the refused requests again, a few at a time, so that other
// clients add only few pets meanwhile.
func (t *tester) refuseAgain(refused map[string]*probe.Exchange) error {
	const few, tries = 8, 3
	tooMany := undecidedf("the store has more pets than a list can show")
	if counts, err := t.idsCount(); err != nil || !counts {
		return cmp.Or(err, tooMany)
	}
	refused = maps.Clone(refused)
	for names := range slices.Chunk(slices.Sorted(maps.Keys(refused)), few) {
		close := false
		for try := 0; try < tries && !close; try++ {
			first, err := t.add("available")
			if err != nil {
				return err
			}
			for _, name := range names {
				if refused[name] == nil {
					continue
				}
				x, err := t.do(refused[name].Request)
				if err != nil {
					return err
				}
				refused[name] = x
				if x.Succeeded() { // its pet may be in the store
					delete(refused, name)
				}
			}
			last, err := t.add("available")
			if err != nil {
				return err
			}
			if close, err = t.searchBetween(first.ID, last.ID, refused); err != nil {
				return err
			}
		}
		if !close {
			return tooMany
		}
	}
	return nil
}

// idsCount reports whether two pets that are added one after the other get ids
// that are close.
func (t *tester) idsCount() (bool, error) {
	a, err := t.add("available")
	if err != nil {
		return false, err
	}
	b, err := t.add("available")
	return isClose(a.ID, b.ID), err
}

// isClose reports whether b is above a, with few enough ids between them to get
// each pet.
func isClose(a, b int64) bool {
	return b > a && b-a > 0 && b-a <= 400
}

// searchBetween gets the pets with ids between a and b, if those are close: a
// store that counts gives such an id to the pet of a refused request.
func (t *tester) searchBetween(a, b int64, refused map[string]*probe.Exchange) (bool, error) {
	if !isClose(a, b) {
		return false, nil
	}
	return true, t.parallel(int(b-a-1), t.s.opts.Parallel, func(t *tester, i int) error {
		x, err := t.get(petPath(a + 1 + int64(i)))
		if err != nil || x.Status != http.StatusOK {
			return err
		}
		found, err := readPet(x)
		if err != nil {
			return nil // pets.get.pet judges it
		}
		return wasRefused(x, found, refused)
	})
}
