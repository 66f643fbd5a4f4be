package conformance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// newPet is a pet to create (contract, section 2.1).
type newPet struct {
	Name     string
	Category int64
	Status   string // "": absent
}

func (n newPet) json() string {
	b := append(quoteJSON(`{"name":`, n.Name), `,"categoryId":`...)
	b = strconv.AppendInt(b, n.Category, 10)
	if n.Status != "" {
		b = quoteJSON(string(b)+`,"status":`, n.Status)
	}
	return string(append(b, '}'))
}

func quoteJSON(before, s string) []byte {
	b, err := jsontext.AppendQuote([]byte(before), s)
	if err != nil {
		panic("conformance: a name that is no UTF-8: " + err.Error())
	}
	return b
}

// pet is a pet as the target returned it (contract, section 2.2).
type pet struct {
	ID int64
	newPet
}

// readPet reads a pet to the letter of the contract; members that it does
// not name may be there.
func readPet(v jsontext.Value) (pet, error) {
	var p pet
	o, err := parseObject(v)
	if err != nil {
		return p, err
	}
	if p.ID, err = o.int64("id"); err != nil {
		return p, err
	}
	if p.Name, err = o.str("name"); err != nil {
		return p, err
	}
	if p.Category, err = o.int64("categoryId"); err != nil {
		return p, err
	}
	if _, ok := o["status"]; ok {
		if p.Status, err = o.str("status"); err != nil {
			return p, err
		}
		if !slices.Contains(statuses(), p.Status) {
			return p, fmt.Errorf("status: %q is none of available, pending, sold", p.Status)
		}
	}
	return p, nil
}

// guessPet reads what it can of a pet, for checks that look at something
// else than its form. An id that cannot be read is an error.
func guessPet(v jsontext.Value) (pet, error) {
	var p pet
	o, err := parseObject(v)
	if err != nil {
		return p, err
	}
	p.Name, _ = o.str("name")
	p.Category, _ = o.int64("categoryId")
	p.Status, _ = o.str("status")
	p.ID, err = o.int64("id")
	return p, err
}

// differs says how got differs from want; "" if it does not.
func (want pet) differs(got pet) string {
	switch {
	case got.ID != want.ID:
		return fmt.Sprintf("the id is %d, not %d", got.ID, want.ID)
	case got.Name != want.Name:
		return fmt.Sprintf("the name is %s, not %s", short(strconv.Quote(got.Name)), short(strconv.Quote(want.Name)))
	case got.Category != want.Category:
		return fmt.Sprintf("categoryId is %d, not %d", got.Category, want.Category)
	case got.Status != want.Status:
		return fmt.Sprintf("the status is %s, not %s", orNone(got.Status), orNone(want.Status))
	}
	return ""
}

func orNone(status string) string {
	if status == "" {
		return "absent"
	}
	return strconv.Quote(status)
}

// pet returns the pet that x's body must be.
func (x *exchange) pet() (pet, error) {
	v, err := x.value()
	if err != nil {
		return pet{}, err
	}
	p, err := readPet(v)
	if err != nil {
		return p, violationf(x, "the body is no Pet: %v", err)
	}
	return p, nil
}

// list returns the elements of the array that x's body must be.
func (x *exchange) list() ([]jsontext.Value, error) {
	v, err := x.value()
	if err != nil {
		return nil, err
	}
	a, err := parseArray(v)
	if err != nil {
		return nil, violationf(x, "the body %v", err)
	}
	return a, nil
}

// showElement returns a line for a message about element i of a list: the
// transcript of a list may be cut long before it.
func showElement(i int, v jsontext.Value) string {
	v = v.Clone()
	_ = v.Compact() // it shows as it came if it is odd
	return fmt.Sprintf("\nelement %d of the list: %s", i, cut(string(v), 400))
}

// showElements returns such a line for each element of x with that id.
func (x *exchange) showElements(id int64) string {
	var b strings.Builder
	elements, _ := x.list()
	for i, v := range elements {
		if p, err := guessPet(v); err == nil && p.ID == id {
			b.WriteString(showElement(i, v))
		}
	}
	return b.String()
}

// guessList returns what can be read of a list, leaving out what is no
// pet.
func (x *exchange) guessList() []pet {
	if x.status != 200 {
		return nil
	}
	a, err := x.list()
	if err != nil {
		return nil
	}
	var pets []pet
	for _, v := range a {
		if p, err := guessPet(v); err == nil {
			pets = append(pets, p)
		}
	}
	return pets
}
