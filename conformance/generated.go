package conformance

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"example.com/animalstore/conformance/internal/probe"
	"example.com/animalstore/conformance/internal/randombody"
)

// How many bodies are generated from the seed. The valid ones stay in the store. The
// wrong ones have every kind of fault.
const (
	generatedValid = 10
	generatedWrong = 40
)

const (
	validFailure = "A valid body that was generated from the seed gets a status other than "
	wrongFailure = "A body with exactly one fault that was generated from the seed gets a status other than 400."
	faulty       = "the body has a fault"
	wrongWhy     = "No list of examples has every fault that a target may accept."
)

var generatedChecks = []Check{
	{
		ID: "generated.pets.valid", Clause: "create", Title: "generated pets are added and kept exactly", Writes: true,
		Why:     "No list of examples has every pet that a target may get wrong.",
		Failure: validFailure + "201, or the pet is changed.",
		phase:   filling, run: func(t *tester) {
			t.generate(generatedValid, randombody.Pet(t.firstPet().Category, t.first().anyCategory).Valid,
				func(body string) { t.wantStored(t.added(t.do(probe.Post("/pets", body)))) })
		},
	},
	{
		ID: "generated.pets.faulty", Clause: "create-values", Title: "generated bodies with one fault get 400", Writes: true,
		Why:     wrongWhy,
		Failure: wrongFailure,
		run: func(t *tester) {
			t.generate(generatedWrong, randombody.Pet(t.firstPet().Category, t.first().anyCategory).Faulty,
				func(body string) { t.wantStatus(t.do(probe.Post("/pets", body)), 400, faulty) })
		},
	},
	{
		ID: "generated.messages.valid", Clause: "message-text", Title: "generated messages are accepted and repeated exactly", Writes: true,
		Why:     "No list of examples has every text that a target may get wrong.",
		Failure: validFailure + "2xx, or the record has another text.",
		run: func(t *tester) {
			t.generate(generatedValid, randombody.Message().Valid, func(body string) { t.wantText(t.do(probe.PostMessage(body))) })
		},
	},
	{
		ID: "generated.messages.faulty", Clause: "message-required", Title: "generated messages with one fault get 400", Writes: true,
		Why:     wrongWhy,
		Failure: wrongFailure,
		run: func(t *tester) {
			t.generate(generatedWrong, randombody.Message().Faulty,
				func(body string) { t.wantStatus(t.do(probe.PostMessage(body)), 400, faulty) })
		},
	},
}

// generate calls test with n bodies that are made from the run's seed. If test
// finds a violation, the check fails with the fault of the body in its message.
func (t *tester) generate(n int, body func(r *rand.Rand, mark string, n int) (body, fault string), test func(body string)) {
	r := t.random()
	for i := range n {
		body, fault := body(r, fmt.Sprintf(" %s-%d", t.s.mark, i+1), i)
		e := attempt(func() { test(body) })
		if e != nil && e.verdict == Fail {
			e = e.with("%s (body %d of seed %d: %s)", e.message, i+1, t.s.opts.Seed, cmp.Or(fault, "it is valid"))
			e.flaw.Clause = cmp.Or(e.flaw.Clause, clauseOf(body, e.proof.Request.Messages))
		}
		e.end()
	}
}

// clauseOf returns the clause that a generated body violates; "": that of its check.
func clauseOf(body string, message bool) string {
	o, err := probe.ParseObject([]byte(body))
	switch {
	case err != nil && message:
		return "message-json"
	case err != nil:
		return "create-body"
	case !message && (o["name"] == nil || o["categoryId"] == nil):
		return "create-required"
	}
	return ""
}
