package conformance

import (
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/animalstore/conformance/internal/probe"
)

// Which requests a target must accept. A valid request must succeed (mustSucceed), unless
// the target may have a reason to refuse it: the contract says that values can be invalid,
// and has no rules for names, texts and categories. If it refuses one that it has hardly a
// reason to refuse, that is a warning (refusedArguably).

// valid reports whether the request of x is valid, its credential included.
func (x *exchange) valid() bool { return x.validHeader() && x.validPathAndBody() }

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

// largeBody is the length in bytes from which on a target may refuse a body for that.
const largeBody = 1 << 10

// mustSucceed reports whether the request of x is valid and the target has no reason to
// refuse it.
func (x *exchange) mustSucceed() bool {
	tooLarge := x.Status == http.StatusRequestEntityTooLarge && len(x.Request.Body) >= largeBody
	switch {
	case !x.valid(), x.gone(), tooLarge:
		return false
	case x.op == opList, x.op == opGet:
		return true
	case !x.exact, x.Request.ContentType != "application/json", !x.textAccepted():
		return false
	case x.op == opSubmit:
		return !x.isRepeated()
	}
	// The contract has one error for a name that the target already has: 400, as for an
	// invalid value.
	nameTaken := x.isRepeated() && x.Status == http.StatusBadRequest
	return !nameTaken && x.categoryAccepted(x.sent.Category)
}

// refusedArguably reports whether the target refuses x for its name, text or category,
// and that is at most a warning: it is unusual, and gets 400 as an invalid value. A text
// without the mark of the run may be refused in another way: an earlier run may have sent
// it.
func (x *exchange) refusedArguably() bool {
	if !x.Refused() {
		return false
	}
	invalid := x.Status == http.StatusBadRequest
	hasMark := strings.Contains(x.name(), x.run.mark[len(markStart):])
	return !x.isOurs() && (invalid || !hasMark) || invalid && x.sent != nil && x.kindOfPet() == unusualCategory
}

// isOurs reports whether the name or text of x is an ordinary one of the run.
func (x *exchange) isOurs() bool {
	name := x.name()
	return name != "" && x.run.ours.FindString(name) == name
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

// textAccepted reports whether the target may not refuse the name or text of x.
func (x *exchange) textAccepted() bool {
	s := x.name()
	return plainText(s) || isNumber(s) && len(s) <= longestPlain && x.accepted(numberName)
}

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

// Kinds of values. A target that accepts one value of a kind must accept the others. The
// kind of any other category is that category.
const (
	numberName       = "a number as a name"
	positiveCategory = "an arbitrary positive category"
	negativeCategory = "an arbitrary negative category"
)

// kindsOf returns the kinds of the values in a pet.
func kindsOf(n newPet) []string {
	kinds := []string{kindOfCategory(n.Category)}
	if isNumber(n.Name) {
		kinds = append(kinds, numberName)
	}
	return kinds
}

// From arbitrary to ten times that are categories that a target can hardly know.
const arbitrary = 100_000_000

func kindOfCategory(category int64) string {
	switch {
	case category >= arbitrary && category < 10*arbitrary:
		return positiveCategory
	case category <= -arbitrary && category > -10*arbitrary:
		return negativeCategory
	}
	return strconv.FormatInt(category, 10)
}

// accepted reports whether the target had accepted a value of that kind before x.
func (x *exchange) accepted(kind string) bool {
	since, ok := x.run.acceptedSince[kind]
	return ok && since.Before(x.Sent)
}

// categoryAccepted reports whether the target may not refuse a category.
func (x *exchange) categoryAccepted(category int64) bool {
	return x.accepted(kindOfCategory(category)) || x.accepted(positiveCategory) && (category > 0 || x.accepted(negativeCategory))
}

// kindOfPet says what is unusual about a valid pet.
type kindOfPet int

const (
	plainPet kindOfPet = iota
	unusualName
	unusualCategory
)

func (x *exchange) kindOfPet() kindOfPet {
	kind := kindOfCategory(x.sent.Category)
	switch {
	case !x.isOurs():
		return unusualName
	case kind != positiveCategory && kind != negativeCategory && !x.accepted(kind):
		return unusualCategory
	}
	return plainPet
}
