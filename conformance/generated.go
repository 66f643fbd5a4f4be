package conformance

import (
	"errors"
	"math/rand/v2"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/conformance/internal/probe"
	"example.com/animalstore/conformance/internal/randombody"
)

// How many bodies are generated from the seed. The valid ones stay in the store.
const (
	generatedValid = 10
	generatedWrong = 40
)

var generatedPets = Check{
	ID: "generated.pets.valid", Title: "generated pets are added and kept exactly", Writes: true,
	Why:     "No list of examples has every pet that a target may get wrong.",
	Failure: "A valid body that was generated from the seed gets another status than 201, or the pet is changed. The report shows the smallest such body that was found.",
	run: func(t *tester) error {
		first, err := t.firstPet()
		if err != nil {
			return asUndecided(err, "no pet could be created")
		}
		s := randombody.AcceptedPet(first.pet.Category, first.anyCategory)
		return t.generate(generatedValid, s, s.Valid, func(body string) error {
			sent, _ := probe.ParseObject(jsontext.Value(body))
			var want newPet
			want.Name, _ = sent.Str("name")
			want.Category, _ = sent.Int64("categoryId")
			want.Status, _ = sent.Str("status")
			x, err := t.do(probe.Post("/pets", body))
			if err != nil {
				return err
			}
			if want.Status == "" { // the contract leaves a default open
				got, _ := readPet(x)
				want.Status = got.Status
			}
			added, err := t.addedAs(x, want)
			if err != nil {
				return err
			}
			return t.wantStored(added)
		})
	},
}

var generatedWrongPets = Check{
	ID: "generated.pets.faulty", Title: "generated bodies with one fault get 400", Writes: true,
	Why:     "No list of examples has every fault that a target may accept.",
	Failure: "A body with exactly one fault that was generated from the seed gets another status than 400. The report shows the smallest such body that was found.",
	run: func(t *tester) error {
		first, err := t.firstPet()
		if err != nil {
			return asUndecided(err, "no pet could be created")
		}
		s := randombody.Pet(first.pet.Category, first.anyCategory)
		return t.generate(generatedWrong, s, s.Faulty, func(body string) error {
			return t.wantBadRequest(probe.Post("/pets", body))
		})
	},
}

var generatedMessages = Check{
	ID: "generated.messages.valid", Title: "generated messages are accepted and repeated exactly", Writes: true,
	Why:     "No list of examples has every text that a target may get wrong.",
	Failure: "A valid body that was generated from the seed gets another status than 2xx, or the record has another text. The report shows the smallest such body that was found.",
	run: func(t *tester) error {
		s := randombody.Message()
		return t.generate(generatedValid, s, s.Valid, func(body string) error {
			sent, _ := probe.ParseObject(jsontext.Value(body))
			text, _ := sent.Str("message")
			x, err := t.do(probe.PostMessage(body))
			if err != nil {
				return err
			}
			return t.wantText(x, text)
		})
	},
}

var generatedWrongMessages = Check{
	ID: "generated.messages.faulty", Title: "generated messages with one fault get 400", Writes: true,
	Why:     "No list of examples has every fault that a target may accept.",
	Failure: "A body with exactly one fault that was generated from the seed gets another status than 400. The report shows the smallest such body that was found.",
	run: func(t *tester) error {
		s := randombody.Message()
		return t.generate(generatedWrong, s, s.Faulty, func(body string) error {
			return t.wantBadRequest(probe.PostMessage(body))
		})
	},
}

func (t *tester) wantBadRequest(r probe.Request) error {
	x, err := t.do(r)
	if err != nil {
		return err
	}
	return t.wantStatus(x, 400, "the body has a fault")
}

// generate makes n bodies from the run's seed and tests each. It shrinks the
// first one that fails.
func (t *tester) generate(n int, s randombody.Shape, make func(*rand.Rand, string) randombody.Body, test func(body string) error) error {
	r := t.random()
	for i := range n {
		body := make(r, " "+t.name())
		err := test(body.String())
		var v *violation
		if !errors.As(err, &v) {
			if err != nil {
				return err
			}
			continue
		}
		faults := len(s.Faults(body.String()))
		body = randombody.Shrink(body, func(b randombody.Body) bool { return len(s.Faults(b.String())) == faults },
			func(b randombody.Body) (bool, error) {
				err := test(b.String())
				if smaller := (*violation)(nil); errors.As(err, &smaller) {
					v = smaller
					return true, nil
				}
				return false, err
			})
		what := "it is valid"
		if found := s.Faults(body.String()); len(found) > 0 {
			what = found[0]
		}
		return violationf(v.x, "%s (body %d of seed %d, shrunk; %s)", v.msg, i+1, t.s.opts.Seed, what)
	}
	return nil
}
