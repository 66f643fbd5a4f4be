package wire

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// NewPet is a pet to create (contract, section 2.1).
type NewPet struct {
	Name     string `json:"name"`
	Category int64  `json:"categoryId"`
	Status   string `json:"status,omitzero"` // "": absent
}

// Has reports whether n has that status ("": any).
func (n NewPet) Has(status string) bool { return status == "" || n.Status == status }

// Pet is a pet in a response (contract, section 2.2), as far as it can be read.
type Pet struct {
	ID int64
	NewPet
	NoID, Err error  // what is wrong with its ID, and with it as a whole
	Written   string // all its members as they are written
	Fraction  string // an integer that is written with a fraction or an exponent, as in "id: 7.0"; "": none is
}

// Pet returns the pet that the body must be.
func (x *Exchange) Pet() Pet { return readPet(x.object()) }

// readPet reads a pet. Members that the contract does not name are allowed.
func readPet(o object, err error) Pet {
	if err != nil {
		return Pet{NoID: err, Err: err}
	}
	var p Pet
	var noName, noCategory, noStatus error
	p.ID, p.NoID = o.int64("id")
	p.Name, noName = o.str("name")
	p.Category, noCategory = o.int64("categoryId")
	for _, name := range []string{"id", "name", "categoryId", "status"} {
		p.Written += " " + name + ":" + string(o[name])
		if !bytes.ContainsAny(o[name], ".eE") {
			continue
		}
		if _, err := o.int64(name); err == nil {
			p.Fraction = name + ": " + short(string(o[name]))
		}
	}
	if _, ok := o["status"]; ok {
		p.Status, noStatus = o.str("status")
		if noStatus == nil && !slices.Contains([]string{"available", "pending", "sold"}, p.Status) {
			noStatus = fmt.Errorf("status: must be available, pending or sold, got %q", short(p.Status))
		}
	}
	p.Err = cmp.Or(p.NoID, noName, noCategory, noStatus)
	return p
}

// Diff returns the first member in which got differs from want, and how. "": they do
// not differ.
func (want Pet) Diff(got Pet) (member, text string) {
	switch {
	case got.Name != want.Name:
		return "name", "the name is " + Different(got.Name, want.Name)
	case got.Category != want.Category:
		return "categoryId", fmt.Sprintf("it is%s, want categoryId %d", short(got.Written), want.Category)
	case got.Status != want.Status:
		return "status", fmt.Sprintf("the status is %q, want %q", short(got.Status), want.Status)
	}
	return "", ""
}

// List is the body of a response to GET /pets. It is empty if the status is not 200.
type List struct {
	Err   error            // it is not a list
	Raw   []jsontext.Value // the pets as they are written
	Pets  []Pet            // the first 1,000 of them
	Large bool             // 1 MiB or more: the target may have ended the list early
	More  bool             // the same, or the response says that there is a further page
}

// List returns the list that the body must be.
func (x *Exchange) List() List {
	if x.Status != 200 {
		return List{}
	}
	raw, err := x.array()
	l := List{Err: err, Raw: raw, Large: len(x.Body) >= 1<<20}
	l.More = l.Large || x.hasNext()
	for _, v := range raw[:min(len(raw), 1000)] {
		l.Pets = append(l.Pets, readPet(readObject(v)))
	}
	return l
}

// Has reports whether l has a pet with that ID.
func (l List) Has(id int64) bool {
	return slices.ContainsFunc(l.Pets, func(p Pet) bool { return p.ID == id && p.NoID == nil })
}
