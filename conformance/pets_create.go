package conformance

import (
	"fmt"
	"net/http"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// POST /pets with a valid pet (contract, section 4.2).

var createStatus = Check{
	ID: "pets.create.status", Title: "POST /pets with a valid pet responds 201", Writes: true,
	Why:     "201 tells a client that the pet was added.",
	Failure: "Another status for a body with a name, a category and a status of the contract.",
	run: func(t *tester) error {
		first, err := t.firstPet()
		if err != nil && first.x == nil {
			return err
		}
		return t.wantStatus(first.x, 201, "a valid pet is added")
	},
}

var createMediaType = Check{
	ID: "pets.create.media-type", Title: "the response to a new pet is application/json", Writes: true,
	Why:     "Clients read a body by its media type.",
	Failure: "Another Content-Type, or none.",
	run: func(t *tester) error {
		first, err := t.firstResponse()
		if err != nil {
			return err
		}
		return isJSON(first.x)
	},
}

var createPet = Check{
	ID: "pets.create.pet", Title: "the response to a new pet is the pet", Writes: true,
	Why:     "The client needs the id.",
	Failure: "The body is not a JSON object with id, name, categoryId and, if present, a status of the contract.",
	run: func(t *tester) error {
		first, err := t.firstResponse()
		if err != nil {
			return err
		}
		if _, err := readPet(first.x); err != nil {
			return err
		}
		_, x, err := t.postNew("")
		if err != nil || x.Status >= 300 {
			return err // pets.create.status.absent judges the status
		}
		_, err = readPet(x)
		return err
	},
}

var createEcho = Check{
	ID: "pets.create.echo", Title: "the response to a new pet shows it as it was sent", Writes: true,
	Why:     "A client that uses the response would use other data than it sent.",
	Failure: "The name or categoryId in the response differs from what was sent.",
	run: func(t *tester) error {
		first, err := t.firstResponse()
		if err != nil {
			return err
		}
		got, err := readPet(first.x)
		if err != nil {
			return asUndecided(err, "the response cannot be read")
		}
		got.Status = first.pet.Status // pets.create.status.* judge it
		return first.pet.compare(first.x, got, notAsSent)
	},
}

var createIDs = Check{
	ID: "pets.create.id.unique", Title: "every new pet gets a new id", Writes: true,
	Why:     "If two pets have the same id, one hides the other.",
	Failure: "Two new pets get the same id, even if they are alike, or one gets the id of a pet that was listed before. A target may refuse a pet that is like another.",
	run: func(t *tester) error {
		seen := make(map[int64]bool)
		for _, old := range guessList(t.s.start[""]) {
			seen[old.ID] = true
		}
		for i := range 3 {
			added, err := t.add("available")
			if i == 2 && err == nil {
				var again pet
				if again, err = t.create(added.newPet); err != nil {
					return nil // the target refuses a pet that is like another
				}
				seen[added.ID], added = true, again
			}
			if err != nil {
				return err
			}
			if seen[added.ID] {
				return violationf(t.exchanges[len(t.exchanges)-1], "another pet has the id %d", added.ID)
			}
			seen[added.ID] = true
		}
		return nil
	},
}

var createRunIDs = Check{
	ID: "pets.create.id.run", Title: "no two pets of the run have the same id", Writes: true,
	Why:     "If two pets have the same id, one hides the other.",
	Failure: "Two of about a hundred new pets get the same id.",
	late:    true, run: func(t *tester) error {
		if err := t.stock("", 101); err != nil {
			return err
		}
		t.s.mu.Lock()
		repeated, n := t.s.created.repeated, len(t.s.created.left.Pets)
		t.s.mu.Unlock()
		if n < 2 {
			return undecidedf("the run added fewer than two pets")
		}
		if repeated != nil {
			t.exchanges = append(t.exchanges, repeated)
			return violationf(repeated, "another pet of this run has the same id")
		}
		return nil
	},
}

var createTakenID = Check{
	ID: "pets.create.id.taken", Title: "a new pet does not get the id of another pet from its body", Writes: true,
	Why:     "A client could overwrite the pets of others.",
	Failure: "A body with the id of another pet gets that id, or changes that pet. The target may refuse the body or ignore the id.",
	run: func(t *tester) error {
		owner, err := t.add("sold")
		if err != nil {
			return err
		}
		n := newPet{t.name(), owner.Category, "pending"}
		x, err := t.do(probe.Post("/pets", strings.Replace(n.json(), "{", fmt.Sprintf(`{"id":%d,`, owner.ID), 1)))
		if err != nil {
			return err
		}
		if got, err := readPet(x); err == nil && x.Succeeded() && got.ID == owner.ID {
			return violationf(x, "another pet has the id %d", owner.ID)
		}
		now, err := t.get(owner.path())
		if err != nil || now.Status != http.StatusOK {
			return err
		}
		got, err := readPet(now)
		if err != nil {
			return nil // pets.get.pet judges it
		}
		return owner.compare(now, got, "the pet was changed when another was added")
	},
}

var createNoStatus = Check{
	ID: "pets.create.status.absent", Title: "a pet without a status is accepted", Writes: true,
	Why:     "The status is optional.",
	Failure: "Another status than 201 for a body with a name and a categoryId.",
	run: func(t *tester) error {
		_, x, err := t.postNew("")
		if err != nil {
			return err
		}
		return t.wantAdded(x)
	},
}

// statusChecks are about the status of a new pet (contract, section 3.1).
func statusChecks() []Check {
	var checks []Check
	for _, status := range statuses() {
		checks = append(checks, Check{
			ID: "pets.create.status." + status, Title: "a pet with status " + status + " is added with it", Writes: true,
			Why:     "The status is set on creation and nowhere else.",
			Failure: "The pet is refused, or the response shows another status or none.",
			run: func(t *tester) error {
				_, x, err := t.postNew(status)
				if err != nil {
					return err
				}
				if err := t.wantAdded(x); err != nil {
					return err
				}
				o, err := readObject(x)
				if err != nil {
					return asUndecided(err, "the response cannot be read")
				}
				if got, err := o.Str("status"); err != nil || got != status {
					return violationf(x, "the response does not show the status %q that was sent", status)
				}
				return nil
			},
		})
	}
	return checks
}

var createForms = Check{
	ID: "pets.create.forms", Title: "every form of the same JSON is accepted", Writes: true,
	Why:     "Clients write JSON with other white space, order of members and escapes.",
	Failure: "A valid body that is indented, or has another order of members, or has escapes, is refused or changed.",
	run: func(t *tester) error {
		for _, form := range []string{
			"\n{\r\n\t\"name\" : \"%[1]s\" ,\n  \"categoryId\" : %[2]d ,\n\t\"status\":\"sold\"\n}\n\n",
			`{"status":"sold","categoryId":%[2]d,"name":"%[1]s"}`,
			`{"n\u0061me":"%[1]s","categoryId":%[2]d,"status":"s\u006Fld"}`,
		} {
			n, err := t.newPet("sold")
			if err != nil {
				return err
			}
			x, err := t.do(probe.Post("/pets", fmt.Sprintf(form, n.Name, n.Category)))
			if err != nil {
				return err
			}
			if _, err := t.addedAs(x, n); err != nil {
				return err
			}
		}
		return nil
	},
}

var createConcurrent = Check{
	ID: "pets.create.concurrent", Title: "32 concurrent requests add 32 pets", Writes: true,
	Why:     "Clients do not wait for each other.",
	Failure: "One of the requests fails, two pets get the same id, or one of the pets is not in the store afterwards.",
	run: func(t *tester) error {
		const n = 32
		added := make([]pet, n)
		responses := make([]*probe.Exchange, n)
		err := t.parallel(n, n, func(t *tester, i int) error {
			n, x, err := t.postNew(statuses()[i%3])
			if err != nil {
				return err
			}
			responses[i] = x
			added[i], err = t.addedAs(x, n)
			return err
		})
		if err != nil {
			return err
		}
		seen := make(map[int64]bool)
		for i, a := range added {
			if seen[a.ID] {
				return violationf(responses[i], "two of %d pets that were added concurrently have the id %d", n, a.ID)
			}
			seen[a.ID] = true
		}
		if removed, err := t.getRemoved(); err != nil || removed {
			return err
		}
		return t.parallel(n, t.s.opts.Parallel, func(t *tester, i int) error { return t.wantStored(added[i]) })
	},
}

const notAsSent = "the response does not show the pet as it was sent"

// firstResponse returns the response to the first pet, for checks that do not
// test its status.
func (t *tester) firstResponse() (firstPet, error) {
	first, err := t.firstPet()
	if first.x == nil {
		return first, asUndecided(err, "no pet could be created")
	}
	return first, nil
}

// wantAdded returns an error if x does not say that a valid pet was added. If
// every new pet gets the same wrong 2xx, only pets.create.status fails.
func (t *tester) wantAdded(x *probe.Exchange) error {
	if x.Succeeded() {
		if first, _ := t.firstPet(); first.x != nil && first.x.Status == x.Status {
			return nil
		}
	}
	return t.wantStatus(x, http.StatusCreated, "a valid pet is added")
}

// addedAs returns the pet that x says was added, which must be as it was sent.
func (t *tester) addedAs(x *probe.Exchange, n newPet) (pet, error) {
	if err := t.wantAdded(x); err != nil {
		return pet{}, err
	}
	got, err := readPet(x)
	if err != nil {
		return got, err
	}
	added := pet{got.ID, n}
	return added, added.compare(x, got, notAsSent)
}
