package conformance

import (
	"fmt"
	"net/http"
	"strings"
)

// createChecks are about a creation that succeeds (contract, section 4.2).
func createChecks() []Check {
	checks := []Check{
		create("status", "create", "POST /pets with a valid pet answers 201",
			"201 is how a client knows that the pet was added.",
			"Any other status for a body that has a name, a category and a status of the contract.", createStatus),
		create("media-type", "media-type", "the answer to a creation is application/json",
			"Clients choose by the media type how to read a body.",
			"Another Content-Type, or none.", createMediaType),
		create("pet", "pet", "the answer to a creation is the pet",
			"The client learns the id from it.",
			"The body is no JSON object with id, name, categoryId and, if there is one, a status of the contract.", createPet),
		create("echo", "create", "the answer shows the pet as it was sent",
			"A client that goes on with the answer works with other data than it sent.",
			"Name or categoryId in the answer differ from what was sent.", createEcho),
		create("id.unique", "id-unique", "every creation gets an id of its own",
			"An id that is given twice makes one pet hide another.",
			"Two creations are answered with the same id, those of two pets that are alike among them, or one with the id of a pet that was listed before. Refusing a pet like another is not judged.", createIDs),
		{
			ID: "pets.create.id.run", Title: "no two pets of the run have the same id",
			Clause: "id-unique", Level: Required, Feature: FeaturePets, Writes: true,
			Why:     "An id that is given twice makes one pet hide another.",
			Failure: "Two of the hundred or so creations of a run are answered with the same id.",
			stage:   stageMany, run: createRunIDs,
		},
		create("id.taken", "id-unique", "a creation that names an id in use does not take it",
			"A client could overwrite what another one stored.",
			"A body with the id of another pet gets that id, or changes that pet. Refusing the body is allowed, ignoring the id too.", createTaken),
		create("status.absent", "status-optional", "a pet without a status is accepted",
			"The status is optional.",
			"Any other status than 201 for a body of name and categoryId.", createNoStatus),
		create("forms", "create-body", "every spelling of the same JSON is accepted",
			"Clients write JSON with other white space, in another order, with other escapes.",
			"A valid body that is indented, or has its members in another order or its characters escaped, is refused, or kept as something else.", createForms),
		create("concurrent", "create-adds", "32 creations at once give 32 pets",
			"Clients do not wait for each other.",
			"One of the creations fails, two get the same id, or one of the pets is not there afterwards.", createConcurrent),
		create("refused", "create-refused", "a creation that is refused adds nothing",
			"A client that corrects its request and repeats it would have the pet twice.",
			"A pet whose creation was answered with 400 is in the store. Inconclusive where the store holds more than a list can show.", createRefused),
	}
	for _, status := range statuses() {
		checks = append(checks, create("status."+status, "status-set", "a pet that is "+status+" is added as such",
			"The status is set on creation and nowhere else.",
			"The creation is refused, or the answer shows another status or none.",
			func(p *probe) error { return p.createWith(status) }))
	}
	return checks
}

// create returns a required check of POST /pets.
func create(id, clause, title, why, failure string, run func(*probe) error) Check {
	return Check{
		ID: "pets.create." + id, Title: title, Clause: clause,
		Level: Required, Feature: FeaturePets, Writes: true,
		Why: why, Failure: failure, run: run,
	}
}

// createValid creates a pet and says what is wrong if that fails.
func (p *probe) createValid(n newPet) (*exchange, error) {
	x, err := p.do(post("/pets", n.json()))
	if err != nil {
		return nil, err
	}
	return x, p.isAdded(x)
}

// isAdded says what is wrong if x does not say that a valid pet was added:
// with 201, or with what any creation gets here instead. One wrong status is
// a single failure, of pets.create.status.
func (p *probe) isAdded(x *exchange) error {
	if succeeded(x) && x.status != http.StatusCreated {
		if sup, _ := p.supply(); sup.x != nil && sup.x.status == x.status {
			return nil
		}
	}
	return p.want(x, 201, "a valid pet is added")
}

func createStatus(p *probe) error {
	sup, err := p.supply()
	if err != nil && sup.x == nil {
		return err
	}
	return p.want(sup.x, 201, "a valid pet is added")
}

// aCreation returns the answer to a creation, for checks of what is in it.
func (p *probe) aCreation() (*exchange, pet, error) {
	sup, err := p.supply()
	if sup.x == nil {
		return nil, pet{}, asUndecided(err, "no pet could be created")
	}
	return sup.x, sup.first, nil
}

func createMediaType(p *probe) error {
	x, _, err := p.aCreation()
	if err != nil {
		return err
	}
	return x.isJSON()
}

func createPet(p *probe) error {
	x, _, err := p.aCreation()
	if err != nil {
		return err
	}
	if _, err := x.pet(); err != nil {
		return err
	}
	category, err := p.category()
	if err != nil {
		return err
	}
	// The answer for a pet without a status must be a Pet as well.
	x, err = p.do(post("/pets", newPet{p.name(), category, ""}.json()))
	if err != nil || x.status >= 300 {
		return err // for pets.create.status.absent
	}
	_, err = x.pet()
	return err
}

func createEcho(p *probe) error {
	x, added, err := p.aCreation()
	if err != nil {
		return err
	}
	got, err := x.pet()
	if err != nil {
		return asUndecided(err, "the answer cannot be read")
	}
	got.Status = added.Status // for pets.create.status.*
	if diff := added.differs(got); diff != "" {
		return violationf(x, "the answer does not show what was sent: %s", diff)
	}
	return nil
}

func createIDs(p *probe) error {
	seen := make(map[int64]bool)
	for _, old := range p.s.start.all.guessList() {
		seen[old.ID] = true
	}
	for i := range 3 {
		added, err := p.add("available")
		if i == 2 && err == nil { // another one just like it, unless that is refused
			var again pet
			if again, err = p.create(added.newPet); err != nil {
				return nil
			}
			seen[added.ID], added = true, again
		}
		if err != nil {
			return err
		}
		if seen[added.ID] {
			return violationf(p.exchanges[len(p.exchanges)-1], "the id %d was given before", added.ID)
		}
		seen[added.ID] = true
	}
	return nil
}

func createRunIDs(p *probe) error {
	if err := p.stock("", 101); err != nil {
		return err
	}
	p.s.mu.Lock()
	again, n := p.s.twice, len(p.s.left.Pets)
	p.s.mu.Unlock()
	if n < 2 {
		return undecidedf("the run created fewer than two pets")
	}
	if again != nil {
		p.exchanges = append(p.exchanges, again)
		return violationf(again, "another creation of this run was given the same id")
	}
	return nil
}

func createTaken(p *probe) error {
	owner, err := p.add("sold")
	if err != nil {
		return err
	}
	body := strings.Replace(newPet{p.name(), owner.Category, "pending"}.json(), "{", fmt.Sprintf(`{"id":%d,`, owner.ID), 1)
	x, err := p.do(post("/pets", body))
	if err != nil {
		return err
	}
	if x.status >= 200 && x.status <= 299 {
		got, err := x.pet()
		if err == nil && got.ID == owner.ID {
			return violationf(x, "the id %d belongs to another pet", owner.ID)
		}
	}
	now, err := p.get(petPath(owner.ID))
	if err != nil || now.status != http.StatusOK {
		return err
	}
	got, err := now.pet()
	if err != nil {
		return nil // for the checks of a single pet
	}
	if diff := owner.differs(got); diff != "" {
		return violationf(now, "the pet %d was changed by the creation of another: %s", owner.ID, diff)
	}
	return nil
}

func createNoStatus(p *probe) error {
	category, err := p.category()
	if err != nil {
		return err
	}
	_, err = p.createValid(newPet{p.name(), category, ""})
	return err
}

func (p *probe) createWith(status string) error {
	category, err := p.category()
	if err != nil {
		return err
	}
	x, err := p.createValid(newPet{p.name(), category, status})
	if err != nil {
		return err
	}
	v, err := x.value()
	if err != nil {
		return asUndecided(err, "the answer cannot be read")
	}
	o, err := parseObject(v)
	if err != nil {
		return undecidedf("the answer cannot be read: it %v", err)
	}
	if got, err := o.str("status"); err != nil || got != status {
		return violationf(x, "the answer does not show the status %q that was sent", status)
	}
	return nil
}

// createForms sends the same pet in spellings that JSON holds for equal.
func createForms(p *probe) error {
	category, err := p.category()
	if err != nil {
		return err
	}
	for _, form := range []string{
		"\n{\r\n\t\"name\" : \"%[1]s\" ,\n  \"categoryId\" : %[2]d ,\n\t\"status\":\"sold\"\n}\n\n",
		`{"status":"sold","categoryId":%[2]d,"name":"%[1]s"}`,
		`{"n\u0061me":"%[1]s","categoryId":%[2]d,"status":"s\u006Fld"}`,
	} {
		n := newPet{p.name(), category, "sold"}
		x, err := p.do(post("/pets", fmt.Sprintf(form, n.Name, n.Category)))
		if err != nil {
			return err
		}
		if err := p.isAdded(x); err != nil {
			return err
		}
		got, err := x.pet()
		if err != nil {
			return err
		}
		if diff := (pet{got.ID, n}).differs(got); diff != "" {
			return violationf(x, "the answer does not show what was sent: %s", diff)
		}
	}
	return nil
}

func createRefused(p *probe) error {
	refused := make(map[string]*exchange)
	for _, f := range petFaults() {
		name, x, err := p.refusal(f)
		if err != nil {
			continue // for the check of that fault
		}
		if name != "" && x.status >= 400 && x.status <= 499 {
			refused[name] = x
		}
	}
	return p.notStored(refused)
}
