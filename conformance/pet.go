package conformance

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/conformance/internal/probe"
)

// statuses are the values of the contract, section 2.4.
func statuses() []string { return []string{"available", "pending", "sold"} }

// newPet is a pet to create (contract, section 2.1).
type newPet struct {
	Name     string
	Category int64
	Status   string // "": absent
}

func (n newPet) json() string {
	status := ""
	if n.Status != "" {
		status = `,"status":` + quoteJSON(n.Status)
	}
	return fmt.Sprintf(`{"name":%s,"categoryId":%d%s}`, quoteJSON(n.Name), n.Category, status)
}

func quoteJSON(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		panic("conformance: a text that is not UTF-8: " + err.Error())
	}
	return string(b)
}

// has reports whether n has that status ("": any).
func (n newPet) has(status string) bool { return status == "" || n.Status == status }

// pet is a pet in the store (contract, section 2.2).
type pet struct {
	ID int64
	newPet

	category string // categoryId as it is written; "": it was not read

	// fraction is an integer that is written with a fraction or an exponent, as in
	// "id: 7.0". "": none is.
	fraction string
}

// petError says what is wrong with a pet: with its id, and with its other members.
type petError struct{ id, other error }

func (e petError) any() error { return cmp.Or(e.id, e.other) }

func petPath(id int64) string { return "/pets/" + strconv.FormatInt(id, 10) }

// readPet reads what it can of a pet. Members that the contract does not name are
// allowed.
func readPet(o probe.Object, err error) (pet, petError) {
	var p pet
	if err != nil {
		return p, petError{err, err}
	}
	var noID, noName, noCategory, noStatus error
	p.ID, noID = o.Int64("id")
	p.Name, noName = o.Str("name")
	p.Category, noCategory = o.Int64("categoryId")
	p.category = string(o["categoryId"])
	for _, name := range []string{"id", "categoryId"} {
		if v := o[name]; v.Kind() == '0' && bytes.ContainsAny(v, ".eE") {
			p.fraction = name + ": " + probe.Short(string(v))
		}
	}
	if _, ok := o["status"]; ok {
		if p.Status, noStatus = o.Str("status"); noStatus == nil && !slices.Contains(statuses(), p.Status) {
			noStatus = fmt.Errorf("status: must be available, pending or sold, got %q", probe.Short(p.Status))
		}
	}
	return p, petError{noID, cmp.Or(noName, noCategory, noStatus)}
}

// The fields that two pets can differ in.
const (
	inID       = "id"
	inName     = "name"
	inCategory = "category"
	inStatus   = "status"
)

// diff returns the first field in which got differs from want, and how. "": they do
// not differ.
func (want pet) diff(got pet) (field, text string) {
	status := func(s string) string {
		if s == "" {
			return "absent"
		}
		return probe.Short(strconv.Quote(s))
	}
	switch {
	case got.ID != want.ID:
		return inID, fmt.Sprintf("the id is %d, want %d", got.ID, want.ID)
	case got.Name != want.Name:
		return inName, "the name is " + different(got.Name, want.Name)
	case got.Category != want.Category:
		return inCategory, fmt.Sprintf("categoryId is %s, want %d", probe.Short(got.category), want.Category)
	case got.Status != want.Status:
		return inStatus, fmt.Sprintf("the status is %s, want %s", status(got.Status), status(want.Status))
	}
	return "", ""
}

func hasID(pets []pet, id int64) bool {
	return slices.ContainsFunc(pets, func(p pet) bool { return p.ID == id })
}

// different shows two texts that differ, with escapes if one has characters that are
// composed of others: then the two may look the same.
func different(got, want string) string {
	quote := strconv.Quote
	if strings.ContainsFunc(got+want, func(r rune) bool { return unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Hangul, r) }) {
		quote = strconv.QuoteToASCII
	}
	return fmt.Sprintf("%s, want %s", probe.Short(quote(got)), probe.Short(quote(want)))
}
