package conformance

import (
	"cmp"
	"math/rand/v2"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
	"example.com/animalstore/conformance/internal/randombody"
)

// How many bodies are generated from the seed. The valid ones stay in the store.
const (
	generatedValid = 10
	generatedWrong = 40
)

const (
	validFailure = "A valid body that was generated from the seed gets another status than "
	wrongFailure = "A body with exactly one fault that was generated from the seed gets another status than 400."
	smallest     = " The report shows the smallest such body that was found."
	faulty       = "the body has a fault"
	wrongWhy     = "No list of examples has every fault that a target may accept."
)

var generatedPets = Check{
	ID: "generated.pets.valid", Title: "generated pets are added and kept exactly", Writes: true,
	Why:     "No list of examples has every pet that a target may get wrong.",
	Failure: validFailure + "201, or the pet is changed." + smallest,
	run: func(t *tester) {
		s := randombody.AcceptedPet(t.firstPet().Category, t.first().anyCategory)
		t.generate(generatedValid, s, s.Valid, func(body string) { t.wantStored(t.added(t.do(probe.Post("/pets", body)))) })
	},
}

var generatedWrongPets = Check{
	ID: "generated.pets.faulty", Title: "generated bodies with one fault get 400", Writes: true,
	Why:     wrongWhy,
	Failure: wrongFailure + smallest,
	run: func(t *tester) {
		s := randombody.Pet(t.firstPet().Category, t.first().anyCategory)
		t.generate(generatedWrong, s, s.Faulty, func(body string) { t.wantStatus(t.do(probe.Post("/pets", body)), 400, faulty) })
	},
}

var generatedMessages = Check{
	ID: "generated.messages.valid", Title: "generated messages are accepted and repeated exactly", Writes: true,
	Why:     "No list of examples has every text that a target may get wrong.",
	Failure: validFailure + "2xx, or the record has another text." + smallest,
	run: func(t *tester) {
		s := randombody.Message()
		t.generate(generatedValid, s, s.Valid, func(body string) { t.wantText(t.do(probe.PostMessage(body))) })
	},
}

var generatedWrongMessages = Check{
	ID: "generated.messages.faulty", Title: "generated messages with one fault get 400", Writes: true,
	Why:     wrongWhy,
	Failure: wrongFailure + smallest,
	run: func(t *tester) {
		s := randombody.Message()
		t.generate(generatedWrong, s, s.Faulty, func(body string) { t.wantStatus(t.do(probe.PostMessage(body)), 400, faulty) })
	},
}

// generate makes n bodies from the run's seed and calls test with each. It shrinks
// the first one with which test finds a violation.
func (t *tester) generate(n int, s randombody.Shape, make func(*rand.Rand, string) randombody.Body, test func(body string)) {
	r := t.random()
	for i := range n {
		body := make(r, " "+t.name())
		found := attempt(func() { test(body.String()) })
		if found == nil {
			continue
		}
		if found.verdict != Fail {
			found.end()
		}
		faults := len(s.Faults(body.String()))
		body = randombody.Shrink(body, func(b randombody.Body) bool { return len(s.Faults(b.String())) == faults },
			func(b randombody.Body) (bool, error) {
				smaller := attempt(func() { test(b.String()) })
				switch {
				case smaller == nil:
					return false, nil
				case smaller.verdict != Fail:
					return false, smaller
				}
				found = smaller
				return true, nil
			})
		what := cmp.Or(strings.Join(s.Faults(body.String()), ", "), "it is valid")
		fail(found.proof, "%s (body %d of seed %d, shrunk; %s)", found.message, i+1, t.s.opts.Seed, what)
	}
}
