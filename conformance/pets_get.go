package conformance

import (
	"fmt"
	"net/http"

	"example.com/animalstore/conformance/internal/probe"
)

// GET /pets/{petId} (contract, section 4.3).

var getStatus = Check{
	ID: "pets.get.status", Title: "GET /pets/{petId} responds 200 for a pet in the store",
	Why:     "The operation is deprecated, and works until its removal.",
	Failure: "Another status for a pet that the target lists or has just added, before 5 December 2030. From then on 404 and 410 are valid too.",
	run: func(t *tester) error {
		f, err := t.getKnownPet()
		if err != nil {
			return err
		}
		if removed, err := t.getRemoved(); removed || err != nil {
			return err
		}
		if f.x.Status != 200 {
			return t.petMissing(f.id, f.x)
		}
		return nil
	},
}

var getMediaType = Check{
	ID: "pets.get.media-type", Title: "a pet is application/json",
	Why:     "Clients read a body by its media type.",
	Failure: "Another Content-Type, or none.",
	run: func(t *tester) error {
		x, err := t.getOK()
		if err != nil {
			return err
		}
		return isJSON(x)
	},
}

var getPet = Check{
	ID: "pets.get.pet", Title: "a pet has its fields, each of its type",
	Why:     "Typed clients fail on an invalid pet.",
	Failure: "The body is not a JSON object with id, name, categoryId and, if present, a status of the contract.",
	run: func(t *tester) error {
		x, err := t.getOK()
		if err != nil {
			return err
		}
		_, err = readPet(x)
		return err
	},
}

var getID = Check{
	ID: "pets.get.id", Title: "a pet has the id that was requested",
	Why:     "A client would mistake one pet for another.",
	Failure: "The id in the response differs from the id in the path, in the list or in the response to the new pet. An id that is converted to floating point loses its last digits.",
	run: func(t *tester) error {
		var ids []int64
		for _, listed := range guessList(t.s.start[""]) {
			if len(ids) < 5 {
				ids = append(ids, listed.ID)
			}
		}
		if !t.s.opts.ReadOnly {
			pets, err := t.samples()
			if err != nil {
				return err
			}
			for _, added := range pets {
				ids = append(ids, added.ID)
			}
		}
		if t.s.opts.Pet != nil {
			ids = append(ids, *t.s.opts.Pet)
		}
		if len(ids) == 0 {
			return undecidedf("no pet is known")
		}
		if err := t.wantNotRemoved(); err != nil {
			return err
		}
		for _, id := range ids {
			x, err := t.get(petPath(id))
			if err != nil {
				return err
			}
			if x.Status != 200 {
				return t.petMissing(id, x)
			}
			if err := wantID(x, id); err != nil {
				return err
			}
		}
		return nil
	},
}

// wantID returns an error if x shows a pet with another id.
func wantID(x *probe.Exchange, id int64) error {
	got, err := readPet(x)
	if err != nil {
		return asUndecided(err, "the pet cannot be read")
	}
	if got.ID != id {
		return violationf(x, "the response has the id %d, want %d", got.ID, id)
	}
	return nil
}

var getCreated = Check{
	ID: "pets.get.created", Title: "a new pet can be read at once, as it was added", Writes: true,
	Why:     "A client that adds a pet must find it.",
	Failure: "The id of a new pet gets another status than 200, or another name, category or status.",
	run: func(t *tester) error {
		pets, err := t.samples()
		if err != nil {
			return err
		}
		return t.wantAllStored(pets)
	},
}

var getStays = Check{
	ID: "pets.get.stays", Title: "a pet stays in the store when many others are added", Writes: true,
	Why:     "No operation of the contract removes a pet.",
	Failure: "At the end of the run, the first pets of the run get another status than 200, or have changed.",
	late:    true, run: func(t *tester) error {
		first, err := t.firstPet()
		if err != nil {
			return asUndecided(err, "no pet could be created")
		}
		pets, err := t.samples()
		if err != nil {
			return err
		}
		if err := t.stock("", 101); err != nil {
			return err
		}
		return t.wantAllStored(append([]pet{first.pet}, pets...))
	},
}

func (t *tester) wantAllStored(pets []pet) error {
	if err := t.wantNotRemoved(); err != nil {
		return err
	}
	for _, added := range pets {
		if err := t.wantStored(added); err != nil {
			return err
		}
	}
	return nil
}

var getAsListed = Check{
	ID: "pets.get.list", Title: "a list with a status shows the same pets as GET /pets/{petId}",
	Why:     "The list replaces GET /pets/{petId}: clients that change to it must see the same pets.",
	Failure: "A pet differs from the same pet in a list of its status.",
	run: func(t *tester) error {
		if err := t.addSamples(); err != nil {
			return err
		}
		if err := t.wantNotRemoved(); err != nil {
			return err
		}
		compared := 0
		for _, status := range statuses() {
			n, err := t.compareListed(status)
			// Others may change or remove a pet meanwhile. Only what differs
			// every time is a violation.
			for try := 0; err != nil && try < 2; try++ {
				n, err = t.compareListed(status)
			}
			if err != nil {
				return err
			}
			compared += n
		}
		if compared == 0 {
			return undecidedf("no list has a pet")
		}
		return nil
	},
}

// compareListed compares some pets of a list with GET /pets/{petId} and returns
// how many.
func (t *tester) compareListed(status string) (int, error) {
	l, err := t.listing(status)
	if err != nil {
		return 0, err
	}
	some := l.pets[:min(3, len(l.pets))]
	for _, listed := range some {
		x, err := t.get(listed.path())
		if err != nil {
			return 0, err
		}
		if err := t.wantStatus(x, 200, fmt.Sprintf("the list has the pet %d", listed.ID)); err != nil {
			return 0, err
		}
		got, err := readPet(x)
		if err != nil {
			return 0, asUndecided(err, "the pet cannot be read")
		}
		if err := listed.compare(x, got, "the pet is not as in the list"); err != nil {
			return 0, err
		}
	}
	return len(some), nil
}

// knownPet returns the id of a pet in the store: the one of the options, one of
// this run, or one from the list.
func (t *tester) knownPet() (int64, error) {
	if t.s.opts.Pet != nil {
		return *t.s.opts.Pet, nil
	}
	if !t.s.opts.ReadOnly {
		first, err := t.firstPet()
		return first.pet.ID, asUndecided(err, "no pet could be created")
	}
	for _, listed := range guessList(t.s.start[""]) {
		return listed.ID, nil
	}
	return 0, undecidedf("no pet is known: the list was empty when the run began")
}

// knownPetResponse is the response for a pet in the store.
type knownPetResponse struct {
	id int64
	x  *probe.Exchange
}

// getKnownPet gets a pet in the store, once for all checks.
func (t *tester) getKnownPet() (knownPetResponse, error) {
	return share(t, "get", func(t *tester) (knownPetResponse, error) {
		id, err := t.knownPet()
		if err != nil {
			return knownPetResponse{}, err
		}
		x, err := t.get(petPath(id))
		return knownPetResponse{id, x}, err
	})
}

// getOK returns the response for a pet in the store, for checks that do not test
// its status.
func (t *tester) getOK() (*probe.Exchange, error) {
	if err := t.wantNotRemoved(); err != nil {
		return nil, err
	}
	f, err := t.getKnownPet()
	if err != nil {
		return nil, asUndecided(err, "there is no pet to get")
	}
	if f.x.Status != 200 {
		return nil, undecidedf("the pet %d gets %s", f.id, f.x.StatusLine())
	}
	return f.x, nil
}

// getRemoved reports whether the target has removed GET /pets/{petId}, which it
// may from the scheduled day on.
func (t *tester) getRemoved() (bool, error) {
	if t.s.opts.Now().Before(removalBegins) {
		return false, nil
	}
	f, err := t.getKnownPet()
	if err != nil {
		return false, err
	}
	return f.x.Status == http.StatusNotFound || f.x.Status == http.StatusGone, nil
}

// wantNotRemoved returns an error if GET /pets/{petId} was removed as scheduled.
func (t *tester) wantNotRemoved() error {
	removed, err := t.getRemoved()
	if removed {
		return undecidedf("the operation was removed as scheduled")
	}
	return asUndecided(err, "there is no pet to get")
}

// petMissing returns an error for the response x to a pet that was in the store.
// Others may have removed it since, unless this run created it.
func (t *tester) petMissing(id int64, x *probe.Exchange) error {
	missing := t.wantStatus(x, 200, fmt.Sprintf("the pet %d is in the store", id))
	if t.s.opts.Pet != nil && *t.s.opts.Pet == id || t.s.hasCreated(id) {
		return missing
	}
	for _, status := range append([]string{""}, statuses()...) {
		l, err := t.listing(status)
		if err != nil {
			return err
		}
		if _, ok := l.find(id); ok {
			return missing
		}
	}
	return undecidedf("the pet %d was listed when the run began and is not listed any more", id)
}
