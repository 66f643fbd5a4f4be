package conformance

import (
	"fmt"
	"strings"
)

// textKind is a kind of text that a target may change by mistake.
type textKind struct {
	id   string
	what string
	text func(unique string) string

	// mayRefuse says why a target may refuse the text: the contract has no
	// rules for texts, and says that values can be invalid. "": it may not.
	mayRefuse string
}

func textKinds() []textKind {
	with := func(text string) func(string) string {
		return func(unique string) string { return text + " " + unique }
	}
	const control = "the contract does not say whether control characters are allowed"
	return []textKind{
		{id: "spaces", what: "with several spaces inside", text: with("Old  Yeller   the\u00a0dog")},
		{id: "case", what: "in mixed case", text: with("McDoGgLe ÄÖ äö ß İ ı")},
		{id: "quotes", what: "with quotes and slashes", text: with(`"Rex" 'the' \ / \n \u0041`)},
		{id: "markup", what: "with markup", text: with(`<b>Tom</b> &amp; <i>Jerry</i> {{y}} %s`)},
		{id: "escapes", what: "that looks encoded", text: with("100% cat+dog %20 =?&#; &lt; \\x41")},
		{id: "lookalike", what: "that looks like another type", text: with("0042 null true 1e3")},
		{id: "scripts", what: "in several scripts", text: with("Žluťoučký 猫 שלום مرحبا नमस्ते")},
		{id: "combining", what: "with combining characters that are not normalized", text: with("e\u0301 \u00e9 \u212b A\u030a ﬁ 한 \u1112\u1161\u11ab")},
		{id: "astral", what: "with characters beyond the basic plane", text: with("🦊 𝕏 👩\u200d👩\u200d👧 𠮷")},
		{id: "ends", what: "with spaces at its ends", text: func(u string) string { return "  " + u + " \u00a0 " },
			mayRefuse: "the contract does not say whether a text may begin or end with a space"},
		{id: "nul", what: "with a NUL", text: with("a\x00b"), mayRefuse: control},
		{id: "control", what: "with a tab, line breaks and other control characters", text: with("a\tb\nc\r\nd\x01\x1b\x7f\u0085\u2028"),
			mayRefuse: control},
		{id: "long", what: "of 2,000 characters", text: with(strings.Repeat("Ünïcorn 🦄", 200)),
			mayRefuse: "the contract has no size limits"},
	}
}

// nameChecks are about the name of a pet (contract, section 2.1).
func nameChecks() []Check {
	return checksOf(textKinds(), func(k textKind) Check {
		failure := "The pet is refused, or the response, GET /pets/{petId} or the list shows another name."
		if k.mayRefuse != "" {
			failure = "The response, GET /pets/{petId} or the list shows another name. Inconclusive if the pet is refused: " + k.mayRefuse + "."
		}
		return Check{
			ID: "pets.create.name." + k.id, Clause: "name", Title: "a name " + k.what + " is kept exactly", Writes: true,
			Why:     "A client must get back what it stored.",
			Failure: failure,
			run: func(t *tester) {
				n := t.newPet("pending")
				n.Name = k.text(n.Name)
				t.wantKept(n, k.mayRefuse)
			},
		}
	})
}

// categoryChecks are about the categoryId of a pet (contract, section 2.1).
func categoryChecks() []Check {
	const unknown = "the contract does not say whether a category must exist"
	var checks []Check
	for _, v := range []struct {
		id, what string
		value    int64
	}{
		{"large", "beyond 2^53", 1<<53 + 1},
		{"max", "9223372036854775807", 1<<63 - 1},
		{"min", "-9223372036854775808", -1 << 63},
		{"negative", "that is negative and odd beyond 2^53", -(1<<53 + 1)},
		{"zero", "0", 0},
	} {
		negative := ""
		if v.value <= 0 {
			negative = ", negative ones too"
		}
		checks = append(checks, Check{
			ID: "pets.create.category." + v.id, Clause: "category", Title: fmt.Sprintf("a categoryId %s is kept exactly", v.what), Writes: true,
			Why: "An int64 that is converted to floating point changes.",
			Failure: "The response, GET /pets/{petId} or the list shows another number, or the pet is refused though the target accepts arbitrary categories" +
				negative + ". Inconclusive if it does not accept those: " + unknown + ".",
			run: func(t *tester) {
				n := t.newPet("pending")
				mayRefuse := ""
				if !t.first().anyCategory || v.value <= 0 && !t.acceptsNegative() {
					mayRefuse = unknown
				}
				n.Category = v.value
				t.wantKept(n, mayRefuse)
			},
		})
	}
	return checks
}

// acceptsNegative reports whether the target accepts an arbitrary negative
// category, so that it does not require that categories are positive.
func (t *tester) acceptsNegative() bool {
	return share(t, "negative", func(t *tester) bool { return t.acceptsCategory(-t.arbitraryCategory()) })
}

// wantKept adds a pet and ends the check if the response, GET /pets/{petId} or a
// list shows another.
func (t *tester) wantKept(n newPet, mayRefuse string) {
	x := t.post(n)
	if mayRefuse != "" && x.Refused() {
		inconclusive("the target refuses the pet with %s: %s", x.StatusLine(), mayRefuse)
	}
	added := t.added(x)
	t.wantStored(added)
	var l listing
	attempt(func() { l = t.listing(n.Status) }) // pets.list.* judge it
	if l.has(added.ID) {
		l.wantSame(added)
	}
}

// wantStored ends the check if GET /pets/{petId} does not show a pet as it was
// added.
func (t *tester) wantStored(added pet) {
	if t.getRemoved() {
		return
	}
	x := t.get(added.path())
	t.wantStatus(x, 200, "the pet %d was added", added.ID)
	added.wantSame(x, readPet(x), "GET /pets/{petId} does not show the pet as it was added")
}
