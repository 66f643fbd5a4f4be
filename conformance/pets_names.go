package conformance

import (
	"fmt"
	"strings"
)

// nameKind is a kind of text that a target may spoil.
type nameKind struct {
	id   string
	what string
	text func(unique string) string

	// refusable says why a target may refuse the name, if it may: the
	// contract allows values to be invalid and sets no rule for names.
	refusable string
}

func nameKinds() []nameKind {
	with := func(text string) func(string) string {
		return func(unique string) string { return text + " " + unique }
	}
	return []nameKind{
		{id: "spaces", what: "with several spaces inside", text: with("Old  Yeller   the\u00a0dog")},
		{id: "case", what: "in mixed case", text: with("McDoGgLe ÄÖ äö ß İ ı")},
		{id: "quotes", what: "with quotes and slashes", text: with(`"Rex" 'the' \ / \n \u0041`)},
		{id: "markup", what: "with markup", text: with(`<b>Tom</b> &amp; <i>Jerry</i> {{y}} %s`)},
		{id: "escapes", what: "that looks encoded", text: with("100% cat+dog %20 =?&#; &lt; \\x41")},
		{id: "lookalike", what: "that looks like another type", text: func(u string) string { return "0042 null true 1e3 " + u }},
		{id: "scripts", what: "in several scripts", text: with("Žluťoučký 猫 שלום مرحبا नमस्ते")},
		{id: "combining", what: "with combining characters, not normalised", text: with("e\u0301 \u00e9 \u212b A\u030a ﬁ 한 \u1112\u1161\u11ab")},
		{id: "astral", what: "with characters beyond the basic plane", text: with("🦊 𝕏 👩\u200d👩\u200d👧 𠮷")},
		{
			id: "ends", what: "with spaces at its ends",
			text:      func(u string) string { return "  " + u + " \u00a0 " },
			refusable: "whether a name may begin or end with a space is not stated",
		},
		{
			id: "nul", what: "with a NUL", text: func(u string) string { return "a\x00b " + u },
			refusable: "whether a name may hold control characters is not stated",
		},
		{
			id: "control", what: "with a tab, line breaks and other control characters",
			text:      func(u string) string { return "a\tb\nc\r\nd\x01\x1b\x7f\u0085\u2028 " + u },
			refusable: "whether a name may hold control characters is not stated",
		},
		{
			id: "long", what: "of 2,000 characters",
			text:      func(u string) string { return strings.Repeat("Ünïcorn 🦄", 200) + " " + u },
			refusable: "size limits are not stated",
		},
	}
}

// nameChecks are about names being kept to the byte (contract, section 2.1).
func nameChecks() []Check {
	var checks []Check
	for _, k := range nameKinds() {
		failure := "The pet is refused, or the answer, the pet fetched or the list shows another name."
		if k.refusable != "" {
			failure = "The answer, the pet fetched or the list shows another name. Inconclusive if the pet is refused: " + k.refusable + "."
		}
		checks = append(checks, create("name."+k.id, "name", "a name "+k.what+" is kept to the byte",
			"What a client stores, it must get back.", failure,
			func(p *probe) error {
				category, err := p.category()
				if err != nil {
					return err
				}
				return p.kept(newPet{k.text(p.name()), category, "pending"}, k.refusable)
			}))
	}
	return checks
}

// categoryChecks are about categories being kept exactly.
func categoryChecks() []Check {
	values := []struct {
		id, what string
		value    int64
	}{
		{"large", "beyond 2^53", 1<<53 + 1},
		{"max", "9223372036854775807", 1<<63 - 1},
		{"min", "-9223372036854775808", -1 << 63},
		{"negative", "that is negative and odd beyond 2^53", -(1<<53 + 1)},
		{"zero", "0", 0},
	}
	var checks []Check
	for _, v := range values {
		failure := "The answer, the pet fetched or the list shows another number, or the pet is refused though the target takes arbitrary categories, negative ones too. Inconclusive if it refuses those: whether a category has to exist is not stated."
		if v.value > 0 {
			failure = "The answer, the pet fetched or the list shows another number, or the pet is refused though the target takes arbitrary categories. Inconclusive if it refuses those: whether a category has to exist is not stated."
		}
		checks = append(checks, create("category."+v.id, "category", fmt.Sprintf("a categoryId %s is kept exactly", v.what),
			"An int64 that goes through floating point becomes another one.", failure,
			func(p *probe) error {
				sup, err := p.supply()
				if err != nil {
					return asUndecided(err, "no pet could be created")
				}
				refusable := ""
				if !sup.free || v.value <= 0 && !p.takesNegative() {
					refusable = "whether a category has to exist is not stated"
				}
				return p.kept(newPet{p.name(), v.value, "pending"}, refusable)
			}))
	}
	return checks
}

// takesNegative reports whether a pet of an arbitrary negative category
// is accepted. A target that takes those and arbitrary positive ones has no
// rule that a category must exist, nor that it must be positive.
func (p *probe) takesNegative() bool {
	ok, _ := once(p, "negative", func(p *probe) (bool, error) {
		return p.takesAny(-int64(100_000_000 + p.random().IntN(900_000_000))), nil
	})
	return ok
}

// kept creates a pet and says what is wrong if it does not come back as
// it was sent, from the creation, by its id and, where it shows, in a list.
func (p *probe) kept(n newPet, refusable string) error {
	x, err := p.do(post("/pets", n.json()))
	if err != nil {
		return err
	}
	if refusable != "" && x.status >= 400 && x.status <= 499 {
		return undecidedf("the target refuses it with %s, and %s", x.statusLine(), refusable)
	}
	if err := p.isAdded(x); err != nil {
		return err
	}
	got, err := x.pet()
	if err != nil {
		return err
	}
	added := pet{got.ID, n}
	if diff := added.differs(got); diff != "" {
		return violationf(x, "the answer does not show what was sent: %s", diff)
	}
	if err := p.fetchedAs(added); err != nil {
		return err
	}
	l, err := p.listing(n.Status)
	if err != nil {
		return nil // for the checks of lists
	}
	if found, ok := l.find(added.ID); ok {
		if diff := added.differs(found); diff != "" {
			return violationf(l.x, "the list does not show what was sent: %s%s", diff, l.x.showElements(added.ID))
		}
	}
	return nil
}

// fetchedAs says what is wrong if fetching a pet does not give it as it
// was added.
func (p *probe) fetchedAs(added pet) error {
	if gone, err := p.getRemoved(); gone || err != nil {
		return err
	}
	x, err := p.get(petPath(added.ID))
	if err != nil {
		return err
	}
	if err := p.want(x, 200, fmt.Sprintf("the pet %d was added", added.ID)); err != nil {
		return err
	}
	got, err := x.pet()
	if err != nil {
		return err
	}
	if diff := added.differs(got); diff != "" {
		return violationf(x, "the pet fetched is not as it was added: %s", diff)
	}
	return nil
}

// createConcurrent adds pets at the same time and looks for them.
func createConcurrent(p *probe) error {
	const n = 32
	category, err := p.category()
	if err != nil {
		return err
	}
	added := make([]pet, n)
	answers := make([]*exchange, n)
	err = p.parallel(n, n, func(p *probe, i int) error {
		want := newPet{p.name(), category, statuses()[i%3]}
		x, err := p.createValid(want)
		if err != nil {
			return err
		}
		got, err := x.pet()
		if err != nil {
			return err
		}
		added[i], answers[i] = pet{got.ID, want}, x
		if diff := added[i].differs(got); diff != "" {
			return violationf(x, "the answer does not show what was sent: %s", diff)
		}
		return nil
	})
	if err != nil {
		return err
	}
	owner := make(map[int64]bool)
	for i, a := range added {
		if owner[a.ID] {
			return violationf(answers[i], "two of %d creations at once were given the id %d", n, a.ID)
		}
		owner[a.ID] = true
	}
	if gone, err := p.getRemoved(); err != nil || gone {
		return err
	}
	return p.parallel(n, p.s.opts.Parallel, func(p *probe, i int) error { return p.fetchedAs(added[i]) })
}
