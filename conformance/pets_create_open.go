package conformance

import "strings"

// createOpenChecks record what a creation does where the contract says
// nothing.
func createOpenChecks() []Check {
	observe := func(id, clause, title string, run func(*probe) error) Check {
		return Check{
			ID: "pets.create.open." + id, Title: title, Clause: clause,
			Level: Observed, Feature: FeaturePets, Writes: true,
			Why:     "The contract leaves it open; a client has to know its server.",
			Failure: "Nothing: it is recorded, not judged.",
			run:     run,
		}
	}
	return []Check{
		observe("default", "open-default", "the status of a pet added without one", openDefault),
		observe("name", "open-name", "which names are refused", bodies(
			"an empty name", `{"name":"","categoryId":$C}`,
			"a name of spaces", `{"name":"   ","categoryId":$C}`,
			"a name of 8 KiB", `{"name":"$T `+strings.Repeat("x", 8<<10)+`","categoryId":$C}`,
		)),
		observe("category", "open-category", "which categories are refused", bodies(
			"the category 0", `{"name":$N,"categoryId":0}`,
			"the category -1", `{"name":$N,"categoryId":-1}`,
		)),
		observe("members", "open-members", "what members that the contract does not name do", bodies(
			"an unknown member", `{"name":$N,"categoryId":$C,"color":"red"}`,
			"an id", `{"name":$N,"categoryId":$C,"id":4611686018427387904}`,
		)),
		observe("numbers", "open-numbers", "whether 1.0 and 1e2 are integers", bodies(
			"a fraction of zero", `{"name":$N,"categoryId":$C.0}`,
			"an exponent", `{"name":$N,"categoryId":1e2}`,
		)),
		observe("json", "open-json", "what a byte order mark and a lone surrogate get", bodies(
			"a byte order mark", "\xef\xbb\xbf"+`{"name":$N,"categoryId":$C}`,
			"a lone surrogate", `{"name":"$T \ud800","categoryId":$C}`,
		)),
		observe("media-type", "open-media", "what another Content-Type gets", openMediaType),
		observe("twice", "open-twice", "what adding the same pet twice gives", openTwice),
	}
}

func openDefault(p *probe) error {
	category, err := p.category()
	if err != nil {
		return err
	}
	x, err := p.do(post("/pets", newPet{p.name(), category, ""}.json()))
	if err != nil {
		return err
	}
	got, err := x.pet()
	if err != nil {
		return asUndecided(err, "the answer cannot be read")
	}
	p.note("status", "%s", orAbsent(got.Status))
	return nil
}

// bodies returns a check that records what becomes of each body, given as
// pairs of a description and a body of the form of [fault.body].
func bodies(pairs ...string) func(*probe) error {
	return func(p *probe) error {
		category, err := p.category()
		if err != nil {
			return err
		}
		for i := 0; i < len(pairs); i += 2 {
			f := fault{body: pairs[i+1]}
			x, err := p.do(post("/pets", f.fill(p.name(), category)))
			if err := p.record(pairs[i], x, err); err != nil {
				return err
			}
		}
		return nil
	}
}

func openMediaType(p *probe) error {
	category, err := p.category()
	if err != nil {
		return err
	}
	for _, ctype := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-8", "application/vnd.api+json"} {
		r := post("/pets", newPet{p.name(), category, "sold"}.json())
		r.ctype = ctype
		x, err := p.do(r)
		if err := p.record("Content-Type "+orAbsent(ctype), x, err); err != nil {
			return err
		}
	}
	return nil
}

func openTwice(p *probe) error {
	first, err := p.add("sold")
	if err != nil {
		return err
	}
	x, err := p.do(post("/pets", first.json()))
	if err := p.record("the same body again", x, err); err != nil {
		return err
	}
	if v, err := parse(x.body); err == nil && x.status < 300 {
		if again, err := guessPet(v); err == nil {
			p.note("its id", "%s", map[bool]string{true: "the same", false: "another"}[again.ID == first.ID])
		}
	}
	return nil
}
