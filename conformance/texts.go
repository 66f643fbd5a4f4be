package conformance

import (
	"strconv"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// Texts that a target must keep: the names of pets and the texts of messages.

// textKind is a kind of text that targets change or refuse by mistake.
type textKind struct {
	id    string
	what  string                       // completes "a text …"
	texts func(unique string) []string // unique is a text that no other request has

	// mayRefuse says why a target may refuse the texts: the contract says that values
	// can be invalid, and has no rules for texts. "": a target may not refuse them.
	mayRefuse string

	// like is a text to which the same rules apply: a target that accepts it may
	// not refuse the others. "": there is none.
	like string
}

func textKinds() []textKind {
	with := func(text string) func(string) []string {
		return func(unique string) []string { return []string{text + " " + unique} }
	}
	before := func(texts ...string) func(string) []string {
		return func(unique string) []string {
			var all []string
			for _, text := range texts {
				all = append(all, unique+" "+text)
			}
			return all
		}
	}
	alone := func(texts ...string) func(string) []string {
		return func(string) []string { return texts }
	}
	const (
		control   = "the contract does not say whether control characters are allowed"
		invisible = "the contract does not say whether invisible characters are allowed"
		letter    = "the contract does not say whether a text needs a letter"
	)
	return []textKind{
		{id: "spaces", what: "with several spaces inside", texts: with("Old  Yeller   the\u00a0dog")},
		{id: "case", what: "in mixed case", texts: with("McDoGgLe ÄÖ äö ß İ ı")},
		{id: "quotes", what: "with quotes and slashes", texts: with(`"Rex" 'the' \ / \n \u0041`)},
		{id: "markup", what: "with markup", texts: with(`<b>Tom</b> &amp; <i>Jerry</i> {{y}} %s`)},
		{id: "escapes", what: "that looks encoded", texts: with("100%25 %41 cat+dog %20 =?&#; &lt; \\x41")},
		{id: "lookalike", what: "that looks like a value of another type", texts: with("0042 null true 1e3")},
		{id: "words", what: "that is a word of a programming language", texts: alone("null", "true", "false", "undefined", "NaN", "no", "__proto__", "constructor")},
		{id: "numbers", what: "that is a number or a date", texts: alone("4711", "12345678901234567890", "0042", "1e3", "1.10", "2024-02-29", "2024-02-29T12:00:00Z"),
			mayRefuse: letter, like: "4711"},
		{id: "zero", what: "that is 0", texts: alone("0"),
			mayRefuse: "the contract does not say whether a text of one digit is allowed", like: "7"},
		{id: "json", what: "that is JSON", texts: alone(`{"name":"Rex"}`, `"Rex"`)},
		{id: "comments", what: "that looks like a comment", texts: with("http://a.example//b /* c */ # d")},
		{id: "placeholders", what: "with placeholders", texts: with("$& $1 $$ $name ${name} {0} {name} #{name} %d %@ :name ?")},
		{id: "backslash", what: "with a backslash at its end", texts: before(`C:\new\table\`)},
		{id: "typographic", what: "with typographic punctuation", texts: with("“Rex” ‘n’ „Tom“ – — … • ™ € «»")},
		{id: "scripts", what: "in several scripts", texts: with("Žluťoučký 猫 שלום مرحبا नमस्ते")},
		{id: "combining", what: "with combining characters that are not normalized", texts: with("e\u0301 \u00e9 \u212b A\u030a ﬁ 한 \u1112\u1161\u11ab")},
		{id: "astral", what: "with characters beyond the basic plane", texts: with("🦊 𝕏 👩\u200d👩\u200d👧 𠮷")},
		{id: "emoji", what: "of emoji alone", texts: alone("👩\u200d👩\u200d👧🏽"), mayRefuse: letter},
		{id: "ends", what: "with spaces at its ends", texts: func(u string) []string { return []string{"  " + u + " \u00a0 "} },
			mayRefuse: "the contract does not say whether a text may begin or end with a space"},
		{id: "nul", what: "with a NUL", texts: with("a\x00b"), mayRefuse: control},
		{id: "control", what: "with a tab, line breaks and other control characters", texts: with("a\tb\nc\r\nd\x01\x1b\x7f\u0085\u2028"),
			mayRefuse: control},
		{id: "layout", what: "with a tab or a line break", texts: before("a\tb", "a\nb"), mayRefuse: control},
		{id: "direction", what: "with characters that change the direction of the text", texts: before("\u202eabc\u202c \u200f"), mayRefuse: invisible},
		{id: "invisible", what: "with invisible characters", texts: before("\u00ad\u200b\u2060.", "\ufeff"), mayRefuse: invisible},
		{id: "noncharacters", what: "with noncharacters and private characters", texts: before("\ufffe\uffff \U0010ffff \ue000 \ufffd"),
			mayRefuse: "the contract does not say whether every code point is allowed"},
		{id: "long", what: "of 2,000 characters", texts: with(strings.Repeat("Ünïcorn 🦄", 200)),
			mayRefuse: "the contract has no size limits"},
	}
}

// orRefused returns the end of a check's Failure. what is "the pet" or "the message".
func (k textKind) orRefused(what string) string {
	switch {
	case k.mayRefuse == "":
		return ", or " + what + " is refused."
	case k.like == "":
		return ". Inconclusive if " + what + " is refused: " + k.mayRefuse + "."
	}
	return ", or " + what + " is refused though one with " + k.like + " is accepted. Inconclusive if both are refused: " + k.mayRefuse + "."
}

// sendTexts sends every text of a kind and calls want with each response, except one
// that refuses a text that the target may refuse. If all are refused, the check is
// inconclusive.
func (t *tester) sendTexts(k textKind, send func(text string) *probe.Exchange, want func(*probe.Exchange)) {
	texts := k.texts(t.name())
	refused, reason := 0, ""
	for _, text := range texts {
		x := send(text)
		if x.Refused() {
			if reason = t.mayRefuse(k, text, send); reason != "" {
				t.observe(strconv.Quote(probe.Short(text)), x.StatusLine())
				refused++
				continue
			}
		}
		want(x)
	}
	if refused == len(texts) {
		inconclusive("the target refuses the text: %s", reason)
	}
}

// mayRefuse returns why the target may refuse a text, or "".
func (t *tester) mayRefuse(k textKind, text string, send func(text string) *probe.Exchange) string {
	if k.mayRefuse != "" && (k.like == "" || !send(k.like).Succeeded()) {
		return k.mayRefuse
	}
	if n := len(text) - len(t.name()); n > 0 && send(t.name()+strings.Repeat("x", n)).Refused() {
		return "it refuses a text of letters that is as long"
	}
	if !strings.Contains(text, t.s.mark) { // an earlier run may have sent it
		unique := t.name()
		send(unique)
		if send(unique).Refused() {
			return "it refuses the same text twice"
		}
	}
	return ""
}
