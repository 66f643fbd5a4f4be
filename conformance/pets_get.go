package conformance

import (
	"fmt"
)

// getChecks are about GET /pets/{petId} (contract, section 4.3).
func getChecks() []Check {
	return []Check{
		{
			ID: "pets.get.status", Title: "fetching a pet answers 200",
			Clause: "get", Level: Required, Feature: FeaturePets,
			Why:     "The operation is deprecated, and works until its removal.",
			Failure: "Another status for a pet that the target lists or has just added, before 5 December 2030. From then on 404 and 410 are right too.",
			run:     getStatus,
		},
		{
			ID: "pets.get.media-type", Title: "a pet is application/json",
			Clause: "media-type", Level: Required, Feature: FeaturePets,
			Why:     "Clients choose by the media type how to read a body.",
			Failure: "Another Content-Type, or none.",
			run:     getMediaType,
		},
		{
			ID: "pets.get.pet", Title: "a pet has its fields, each of its type",
			Clause: "pet", Level: Required, Feature: FeaturePets,
			Why:     "Typed clients fail on a pet that is none.",
			Failure: "The body is no JSON object with id, name, categoryId and, if there is one, a status of the contract.",
			run:     getPet,
		},
		{
			ID: "pets.get.id", Title: "the pet fetched has the id that was asked for",
			Clause: "id", Level: Required, Feature: FeaturePets,
			Why:     "A client would take one pet for another.",
			Failure: "The id in the answer is another number than the one in the path, in the list or in the answer to the creation; an id that goes through floating point loses its last digits.",
			run:     getID,
		},
		{
			ID: "pets.get.created", Title: "a pet just added can be fetched at once, as it was added",
			Clause: "create-adds", Level: Required, Feature: FeaturePets, Writes: true,
			Why:     "Whoever adds a pet must find it.",
			Failure: "Fetching the id from the answer to a creation gets another status than 200, or another name, category or status.",
			run:     getCreated,
		},
		{
			ID: "pets.get.stays", Title: "a pet is still there when many were added after it",
			Clause: "get", Level: Required, Feature: FeaturePets, Writes: true,
			Why:     "Nothing in the contract takes a pet away.",
			Failure: "The first pets of the run get another status than 200 at its end, or are shown as others.",
			stage:   stageMany, run: getStays,
		},
		{
			ID: "pets.get.list", Title: "a list with a status shows what fetching the pets shows",
			Clause: "replacement", Level: Required, Feature: FeaturePets,
			Why:     "The list replaces the single pet; clients that change over must not see others.",
			Failure: "A pet fetched differs from the same pet in a list of its status.",
			run:     getAsListed,
		},
		{
			ID: "pets.get.missing", Title: "an id that no pet has gets 404",
			Clause: "get-missing", Level: Required, Feature: FeaturePets,
			Why:     "A client must be able to tell a pet that is not there from a fault.",
			Failure: "A random id of 62 bits gets another status than 404.",
			run:     getMissing,
		},
		{
			ID: "pets.get.edges", Title: "ids at the ends of int64, 0, -1 and likely ones get 404, or their pet",
			Clause: "get-missing", Level: Required, Feature: FeaturePets,
			Why:     "Every int64 is an id.",
			Failure: "One of these ids gets another status than 200 and 404, or a pet with another id.",
			run:     getEdges,
		},
		{
			ID: "pets.get.overflow", Title: "an id beyond int64 leads to no pet",
			Clause: "get-missing", Level: Required, Feature: FeaturePets,
			Why:     "An id that wraps around or is cut off leads to a stranger's pet.",
			Failure: "An id outside int64, such as that of a known pet plus 2^64, gets a pet or a 5xx. Which 4xx it gets is not judged.",
			run:     getOverflow,
		},
		{
			ID: "pets.get.open.id", Title: "what a petId that is no int64 gets",
			Clause: "open-id", Level: Observed, Feature: FeaturePets,
			Why:     "The contract leaves it open; a client has to know its server.",
			Failure: "Nothing: it is recorded, not judged.",
			run:     getOpenID,
		},
	}
}

func getStatus(p *probe) error {
	f, err := p.fetch()
	if err != nil {
		return err
	}
	if gone, err := p.getRemoved(); gone || err != nil {
		return err
	}
	if f.x.status != 200 {
		return p.notFetched(f.id, f.x)
	}
	return nil
}

func getMediaType(p *probe) error {
	f, err := p.single()
	if err != nil {
		return err
	}
	return f.x.isJSON()
}

func getPet(p *probe) error {
	f, err := p.single()
	if err != nil {
		return err
	}
	_, err = f.x.pet()
	return err
}

func getID(p *probe) error {
	ids := []int64{}
	for _, listed := range p.s.start.all.guessList() {
		if len(ids) < 5 {
			ids = append(ids, listed.ID)
		}
	}
	if !p.s.opts.ReadOnly {
		pets, err := p.kinds()
		if err != nil {
			return err
		}
		for _, added := range pets {
			ids = append(ids, added.ID)
		}
	}
	if p.s.opts.Pet != nil {
		ids = append(ids, *p.s.opts.Pet)
	}
	if len(ids) == 0 {
		return undecidedf("no pet is known")
	}
	if err := p.stillThere(); err != nil {
		return err
	}
	for _, id := range ids {
		x, err := p.get(petPath(id))
		if err != nil {
			return err
		}
		if x.status != 200 {
			return p.notFetched(id, x)
		}
		got, err := x.pet()
		if err != nil {
			return asUndecided(err, "the pet cannot be read")
		}
		if got.ID != id {
			return violationf(x, "the pet %d was asked for, and the answer has the id %d", id, got.ID)
		}
	}
	return nil
}

func getCreated(p *probe) error {
	pets, err := p.kinds()
	if err != nil {
		return err
	}
	if err := p.stillThere(); err != nil {
		return err
	}
	for _, added := range pets {
		if err := p.fetchedAs(added); err != nil {
			return err
		}
	}
	return nil
}

func getStays(p *probe) error {
	sup, err := p.supply()
	if err != nil {
		return asUndecided(err, "no pet could be created")
	}
	pets, err := p.kinds()
	if err != nil {
		return err
	}
	if err := p.stock("", 101); err != nil {
		return err
	}
	if err := p.stillThere(); err != nil {
		return err
	}
	for _, added := range append([]pet{sup.first}, pets...) {
		if err := p.fetchedAs(added); err != nil {
			return err
		}
	}
	return nil
}

func getAsListed(p *probe) error {
	if err := p.someOfEach(); err != nil {
		return err
	}
	if err := p.stillThere(); err != nil {
		return err
	}
	compared := 0
	for _, status := range statuses() {
		n, err := p.compareListed(status)
		// Others may change or remove a pet in between; only what differs
		// every time is a fault.
		for try := 0; err != nil && try < 2; try++ {
			n, err = p.compareListed(status)
		}
		if err != nil {
			return err
		}
		compared += n
	}
	if compared == 0 {
		return undecidedf("no list shows a pet")
	}
	return nil
}

// compareListed fetches some pets of a list and returns how many were as
// they are listed.
func (p *probe) compareListed(status string) (int, error) {
	l, err := p.listing(status)
	if err != nil {
		return 0, err
	}
	some := l.pets[:min(3, len(l.pets))]
	for _, listed := range some {
		x, err := p.get(petPath(listed.ID))
		if err != nil {
			return 0, err
		}
		if err := p.want(x, 200, fmt.Sprintf("the list shows the pet %d", listed.ID)); err != nil {
			return 0, err
		}
		got, err := x.pet()
		if err != nil {
			return 0, asUndecided(err, "the pet cannot be read")
		}
		if diff := listed.differs(got); diff != "" {
			return 0, violationf(x, "the pet fetched is not as in the list: %s", diff)
		}
	}
	return len(some), nil
}
