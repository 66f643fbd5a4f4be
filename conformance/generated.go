package conformance

import (
	"errors"
	"math/rand/v2"

	"github.com/go-json-experiment/json/jsontext"
)

// How many bodies are generated. The valid ones stay in the store.
const (
	generatedValid  = 10
	generatedFaulty = 40
)

// generatedChecks try bodies that nobody thought of, from the run's seed.
func generatedChecks() []Check {
	return []Check{
		{
			ID: "generated.pets.valid", Title: "generated pets are added and kept as they are",
			Clause: "create", Level: Required, Feature: FeaturePets, Writes: true,
			Why:     "There are more ways to spoil a pet than anyone can list.",
			Failure: "A valid body made from the seed gets another status than 201, or the pet comes back as another. The smallest such body that was found is shown.",
			run:     generatedPets,
		},
		{
			ID: "generated.pets.faulty", Title: "generated bodies with one fault get 400",
			Clause: "create-values", Level: Required, Feature: FeaturePets, Writes: true,
			Why:     "There are more ways to be wrong than anyone can list.",
			Failure: "A body made from the seed, with exactly one fault, gets another status than 400. The smallest such body that was found is shown.",
			run:     generatedFaultyPets,
		},
		{
			ID: "generated.messages.valid", Title: "generated messages are accepted and echoed as they are",
			Clause: "message-text", Level: Required, Feature: FeatureMessages, Writes: true,
			Why:     "There are more ways to spoil a text than anyone can list.",
			Failure: "A valid body made from the seed gets another status than 2xx, or the text is echoed as another. The smallest such body that was found is shown.",
			run:     generatedMessages,
		},
		{
			ID: "generated.messages.faulty", Title: "generated messages with one fault get 400",
			Clause: "message-required", Level: Required, Feature: FeatureMessages, Writes: true,
			Why:     "There are more ways to be wrong than anyone can list.",
			Failure: "A body made from the seed, with exactly one fault, gets another status than 400. The smallest such body that was found is shown.",
			run:     generatedFaultyMessages,
		},
	}
}

// generate makes n drafts from the run's seed and tries each. The first that
// fails is made smaller.
func (p *probe) generate(n int, s shape, make func(*rand.Rand, string) draft, try func(draft) error) error {
	r := p.random()
	for i := range n {
		d := make(r, " "+p.name())
		err := try(d)
		var v *violation
		if !errors.As(err, &v) {
			if err != nil {
				return err
			}
			continue
		}
		faults := len(s.faults(d.body()))
		d, err = shrink(d, err, func(c draft) bool { return len(s.faults(c.body())) == faults }, try)
		errors.As(err, &v)
		what := "it is valid"
		if found := s.faults(d.body()); len(found) > 0 {
			what = found[0]
		}
		return violationf(v.x, "%s (body %d of seed %d, made as small as it still fails; %s)", v.msg, i+1, p.s.opts.Seed, what)
	}
	return nil
}

func generatedPets(p *probe) error {
	sup, err := p.supply()
	if err != nil {
		return asUndecided(err, "no pet could be created")
	}
	s := validPetShape(sup.category, sup.free)
	return p.generate(generatedValid, s, s.valid, func(d draft) error {
		body := d.body()
		o, err := parseObject(jsontext.Value(body))
		if err != nil {
			return err
		}
		want := pet{}
		want.Name, _ = o.str("name")
		want.Category, _ = o.int64("categoryId")
		want.Status, _ = o.str("status")
		x, err := p.do(post("/pets", body))
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
		want.ID = got.ID
		if want.Status == "" {
			want.Status = got.Status
		}
		if diff := want.differs(got); diff != "" {
			return violationf(x, "the answer does not show what was sent: %s", diff)
		}
		return p.fetchedAs(want)
	})
}

func generatedFaultyPets(p *probe) error {
	sup, err := p.supply()
	if err != nil {
		return asUndecided(err, "no pet could be created")
	}
	s := petShape(sup.category, sup.free)
	return p.generate(generatedFaulty, s, s.faulty, func(d draft) error {
		x, err := p.do(post("/pets", d.body()))
		if err != nil {
			return err
		}
		return p.want(x, 400, "the body has a fault")
	})
}

func generatedMessages(p *probe) error {
	s := messageShape()
	return p.generate(generatedValid, s, s.valid, func(d draft) error {
		o, err := parseObject(jsontext.Value(d.body()))
		if err != nil {
			return err
		}
		want, err := o.str("message")
		if err != nil {
			return err
		}
		x, err := p.do(postMessage(d.body()))
		if err != nil {
			return err
		}
		if !succeeded(x) {
			return p.unwanted(x, "2xx", "a valid message is submitted")
		}
		record, err := x.errorBody()
		if err != nil {
			return err
		}
		if got, err := record.str("message"); err != nil || got != want {
			return violationf(x, "the record does not echo the text that was submitted")
		}
		return nil
	})
}

func generatedFaultyMessages(p *probe) error {
	s := messageShape()
	return p.generate(generatedFaulty, s, s.faulty, func(d draft) error {
		x, err := p.do(postMessage(d.body()))
		if err != nil {
			return err
		}
		return p.want(x, 400, "the body has a fault")
	})
}
