package conformance

import (
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/animalstore/conformance/internal/probe"
)

// Which requests a target must accept. The contract says that values can be invalid,
// and has no rules for names, texts and categories.

// longestPlain is how many characters a name may have that no target may refuse.
const longestPlain = 20

// plainText reports whether a target may not refuse a name or text: it is short, has
// a letter, no space at its ends, and only characters that can be seen.
func plainText(s string) bool {
	const joiner = '\u200d' // many emoji have one
	return utf8.RuneCountInString(s) <= longestPlain && strings.TrimSpace(s) == s &&
		strings.ContainsFunc(s, unicode.IsLetter) &&
		!strings.ContainsFunc(s, func(r rune) bool { return r != joiner && r != '\u00a0' && !unicode.IsPrint(r) })
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// kindsOf returns the kinds of values in a pet. A target that accepts one value of a
// kind must accept the others.
func kindsOf(n newPet) []string {
	var kinds []string
	if isNumber(n.Name) {
		kinds = append(kinds, "a number as a name")
	}
	return append(kinds, kindOfCategory(n.Category))
}

// A target can hardly know the categories from arbitrary to ten times that.
const arbitrary = 100_000_000

func kindOfCategory(category int64) string {
	switch {
	case category >= arbitrary && category < 10*arbitrary:
		return "any positive category"
	case category <= -arbitrary && category > -10*arbitrary:
		return "any negative category"
	}
	return "the category " + strconv.FormatInt(category, 10)
}

// accepted reports whether the target had accepted a value of that kind before x.
func (x *exchange) accepted(kind string) bool {
	since, ok := x.run.acceptedSince[kind]
	return ok && since.Before(x.Sent)
}

// categoryAccepted reports whether the target may not refuse a category.
func (x *exchange) categoryAccepted(category int64) bool {
	return x.accepted(kindOfCategory(category)) || x.accepted("any positive category") && (category > 0 || x.accepted("any negative category"))
}

// isRepeated reports whether another request with the same name or text was sent before x,
// or while x was under way. A target may refuse a name or text that it already has.
func (x *exchange) isRepeated() bool {
	for _, o := range x.run.byName[x.op+x.name()] {
		if o != x && o.Sent.Before(x.Received) {
			return true
		}
	}
	return false
}

// validHeader reports whether the request of x has the valid key and accepts JSON.
func (x *exchange) validHeader() bool {
	accept := x.Request.Value("Accept")
	accepts := accept == "" || strings.Contains(accept, "application/json") || strings.Contains(accept, "*/*")
	return accepts && x.Request.Credential.Is(probe.ValidKey())
}

// validPathAndBody reports whether the request of x is valid, apart from its credential.
func (x *exchange) validPathAndBody() bool {
	return x.query != nil || x.sent != nil || x.text != nil || x.id != nil && x.exists()
}

// mustSucceed reports whether the request of x is valid and the target has no
// reason to refuse it.
func (x *exchange) mustSucceed() bool {
	switch {
	case !x.validHeader(), x.Status == http.StatusRequestEntityTooLarge && len(x.Request.Body) >= largeBody:
		return false
	case x.query != nil:
		return true
	case x.op == opGet:
		return x.id != nil && x.exists() && !x.gone()
	case !x.exact, x.Request.ContentType != "application/json":
		return false
	case x.isRepeated() && (x.text != nil || x.Status == http.StatusBadRequest):
		// It may refuse a name that it already has with 400, as an invalid value: the
		// contract has no other error for it.
		return false
	case x.text != nil:
		return x.textAccepted()
	}
	return x.sent != nil && x.textAccepted() && x.categoryAccepted(x.sent.Category)
}

// isOurs reports whether the name or text of x is an ordinary one of the run.
func (x *exchange) isOurs() bool {
	name := x.name()
	return name != "" && x.run.ours.FindString(name) == name
}

// refusedArguably reports whether a refusal of x is at most a warning: only the name, the text
// or the category is unusual, and the contract does not say which are invalid. It says
// that an invalid one gets 400. An earlier run may have sent a text without the mark of
// the run, and a target may refuse it in another way the second time.
func (x *exchange) refusedArguably() bool {
	marked := strings.Contains(x.name(), x.run.mark[len(markStart):])
	return x.Refused() && !x.isOurs() && (x.Status == http.StatusBadRequest || !marked) || x.sent != nil && x.kindOfPet() == unusualCategory && x.Status == http.StatusBadRequest
}

// textAccepted reports whether the target may not refuse the name or text of x.
func (x *exchange) textAccepted() bool {
	s := x.name()
	return plainText(s) || isNumber(s) && len(s) <= longestPlain && x.accepted("a number as a name")
}
