package conformance

import (
	"fmt"
	"mime"
	"slices"
	"strconv"
	"strings"

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

// pet is a pet in the store (contract, section 2.2).
type pet struct {
	ID int64
	newPet
}

func (p pet) path() string { return petPath(p.ID) }

func petPath(id int64) string { return "/pets/" + strconv.FormatInt(id, 10) }

// compare returns a violation that begins with what if got, which was read from
// x, differs from want.
func (want pet) compare(x *probe.Exchange, got pet, what string) error {
	quoted := func(s string) string { return probe.Short(strconv.Quote(s)) }
	status := func(s string) string {
		if s == "" {
			return "absent"
		}
		return quoted(s)
	}
	switch {
	case got.ID != want.ID:
		return violationf(x, "%s: the id is %d, want %d", what, got.ID, want.ID)
	case got.Name != want.Name:
		return violationf(x, "%s: the name is %s, want %s", what, quoted(got.Name), quoted(want.Name))
	case got.Category != want.Category:
		return violationf(x, "%s: categoryId is %d, want %d", what, got.Category, want.Category)
	case got.Status != want.Status:
		return violationf(x, "%s: the status is %s, want %s", what, status(got.Status), status(want.Status))
	}
	return nil
}

// parsePet reads a pet that must be as the contract says. Members that the
// contract does not name are allowed.
func parsePet(v jsontext.Value) (pet, error) {
	p, err := guessPet(v)
	if err != nil {
		return p, err
	}
	o, _ := probe.ParseObject(v)
	if _, err := o.Str("name"); err != nil {
		return p, err
	}
	if _, err := o.Int64("categoryId"); err != nil {
		return p, err
	}
	if _, ok := o["status"]; ok {
		status, err := o.Str("status")
		if err != nil {
			return p, err
		}
		if !slices.Contains(statuses(), status) {
			return p, fmt.Errorf("status: must be available, pending or sold, got %q", status)
		}
	}
	return p, nil
}

// guessPet reads what it can of a pet, for checks that test something else than
// its form. An id that cannot be read is an error.
func guessPet(v jsontext.Value) (pet, error) {
	var p pet
	o, err := probe.ParseObject(v)
	if err != nil {
		return p, err
	}
	p.Name, _ = o.Str("name")
	p.Category, _ = o.Int64("categoryId")
	p.Status, _ = o.Str("status")
	p.ID, err = o.Int64("id")
	return p, err
}

// readPet returns the pet that the body of x must be.
func readPet(x *probe.Exchange) (pet, error) { return readBody(x, "the body is not a Pet: ", parsePet) }

// readList returns the elements of the array that the body of x must be.
func readList(x *probe.Exchange) ([]jsontext.Value, error) {
	return readBody(x, "the body ", probe.ParseArray)
}

// readObject returns the object that the body of x must be.
func readObject(x *probe.Exchange) (probe.Object, error) {
	return readBody(x, "the body ", probe.ParseObject)
}

// readBody parses the body of x. Its errors are violations.
func readBody[T any](x *probe.Exchange, what string, parse func(jsontext.Value) (T, error)) (T, error) {
	v, err := probe.ParseJSON(x.Body)
	if err != nil {
		var zero T
		return zero, violationf(x, "%v", err)
	}
	t, err := parse(v)
	if err != nil {
		return t, violationf(x, "%s%v", what, err)
	}
	return t, nil
}

// guessList returns the pets that can be read in a list.
func guessList(x *probe.Exchange) []pet {
	var pets []pet
	if x == nil || x.Status != 200 {
		return nil
	}
	elements, _ := readList(x)
	for _, v := range elements {
		if p, err := guessPet(v); err == nil {
			pets = append(pets, p)
		}
	}
	return pets
}

// isJSON returns a violation if x is not declared to be JSON.
func isJSON(x *probe.Exchange) error {
	ct := x.Header.Get("Content-Type")
	if ct == "" {
		return violationf(x, "the response has no Content-Type, want application/json")
	}
	// The contract says nothing about parameters, well-formed or not.
	if media, _, _ := mime.ParseMediaType(ct); media != "application/json" {
		return violationf(x, "the Content-Type of the response is %q, want application/json", ct)
	}
	return nil
}

// showElement returns a line for a message about element i of a list, since a
// report may cut the list before it.
func showElement(i int, v jsontext.Value) string {
	v = v.Clone()
	_ = v.Compact() // on failure it is shown as it is
	return fmt.Sprintf("\nelement %d of the list: %s", i, probe.Cut(string(v), 400))
}

// showElements returns such a line for each element of x with that id.
func showElements(x *probe.Exchange, id int64) string {
	var b strings.Builder
	elements, _ := readList(x)
	for i, v := range elements {
		if p, err := guessPet(v); err == nil && p.ID == id {
			b.WriteString(showElement(i, v))
		}
	}
	return b.String()
}
