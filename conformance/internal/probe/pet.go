package probe

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// Statuses returns the values of the contract, section 2.4.
func Statuses() []string { return []string{"available", "pending", "sold"} }

// NewPet is a pet to create (contract, section 2.1).
type NewPet struct {
	Name     string
	Category int64
	Status   string // "": absent
}

// JSON returns n as the body of a request.
func (n NewPet) JSON() string {
	status := ""
	if n.Status != "" {
		status = `,"status":` + QuoteJSON(n.Status)
	}
	return fmt.Sprintf(`{"name":%s,"categoryId":%d%s}`, QuoteJSON(n.Name), n.Category, status)
}

// QuoteJSON returns s, which must be UTF-8, as a JSON string.
func QuoteJSON(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		panic("probe: a text that is not UTF-8: " + err.Error())
	}
	return string(b)
}

// Has reports whether n has that status ("": any).
func (n NewPet) Has(status string) bool { return status == "" || n.Status == status }

// Pet is a pet in a response (contract, section 2.2).
type Pet struct {
	ID int64
	NewPet

	category string // categoryId as it is written; "": it was not read
	written  string // all its members as they are written

	// Fraction is an integer that is written with a fraction or an exponent, as in
	// "id: 7.0". "": none is.
	Fraction string
}

// PetError says what is wrong with a pet: with its ID, and with its other members.
type PetError struct{ ID, Other error }

// Any returns the first error. Nil: nothing is wrong.
func (e PetError) Any() error { return cmp.Or(e.ID, e.Other) }

// PetPath returns the path of the pet with that ID.
func PetPath(id int64) string { return "/pets/" + strconv.FormatInt(id, 10) }

// ReadPet reads what it can of a pet. Members that the contract does not name are
// allowed.
func ReadPet(o Object, err error) (Pet, PetError) {
	var p Pet
	if err != nil {
		return p, PetError{err, err}
	}
	var noID, noName, noCategory, noStatus error
	p.ID, noID = o.Int64("id")
	p.Name, noName = o.Str("name")
	p.Category, noCategory = o.Int64("categoryId")
	p.category = string(o["categoryId"])
	for _, name := range []string{"id", "name", "categoryId", "status"} {
		p.written += name + ":" + string(o[name]) + " "
	}
	for _, name := range []string{"id", "categoryId"} {
		if v := o[name]; v.Kind() == '0' && bytes.ContainsAny(v, ".eE") {
			p.Fraction = name + ": " + Short(string(v))
		}
	}
	if _, ok := o["status"]; ok {
		p.Status, noStatus = o.Str("status")
		if noStatus == nil && !slices.Contains(Statuses(), p.Status) {
			noStatus = fmt.Errorf("status: must be available, pending or sold, got %q", Short(p.Status))
		}
	}
	return p, PetError{noID, cmp.Or(noName, noCategory, noStatus)}
}

// The fields that two pets can differ in.
const (
	InID       = "id"
	InName     = "name"
	InCategory = "category"
	InStatus   = "status"
)

// Diff returns the first field in which got differs from want, and how. "": they do
// not differ.
func (want Pet) Diff(got Pet) (field, text string) {
	status := func(s string) string {
		if s == "" {
			return "absent"
		}
		return Short(strconv.Quote(s))
	}
	switch {
	case got.ID != want.ID:
		return InID, fmt.Sprintf("the id is %d, want %d", got.ID, want.ID)
	case got.Name != want.Name:
		return InName, "the name is " + Different(got.Name, want.Name)
	case got.Category != want.Category:
		return InCategory, fmt.Sprintf("categoryId is %s, want %d", Short(got.category), want.Category)
	case got.Status != want.Status:
		return InStatus, fmt.Sprintf("the status is %s, want %s", status(got.Status), status(want.Status))
	}
	return "", ""
}

// LooksLike reports whether p and o are written in the same way, even if they are not Pets.
func (p Pet) LooksLike(o Pet) bool { return p.written == o.written }

// HasID reports whether a pet has that ID.
func HasID(pets []Pet, id int64) bool {
	return slices.ContainsFunc(pets, func(p Pet) bool { return p.ID == id })
}

// Different shows two texts that differ, with escapes if one has characters that are
// composed of others: then the two may look the same.
func Different(got, want string) string {
	quote := strconv.Quote
	composed := func(r rune) bool { return unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Hangul, r) }
	if strings.ContainsFunc(got+want, composed) {
		quote = strconv.QuoteToASCII
	}
	return fmt.Sprintf("%s, want %s", Short(quote(got)), Short(quote(want)))
}
