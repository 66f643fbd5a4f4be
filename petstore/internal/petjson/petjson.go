// Package petjson decodes the pets of requests, responses and exports, so that a new member of a
// pet is decoded in one place.
package petjson

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/petstore"
)

// Members are the members of a pet as they are in JSON; nil: missing. A decoder of objects
// with further members embeds it.
type Members struct {
	ID         jsontext.Value `json:"id"`
	Name       jsontext.Value `json:"name"`
	CategoryID jsontext.Value `json:"categoryId"`
	Status     jsontext.Value `json:"status"`
}

const integer = "a 64-bit integer, without fraction or exponent"

// NewPet decodes all members but the ID. It does not validate the pet. Its errors have
// petstore.CodeInvalid, and name the member.
func (m *Members) NewPet() (p petstore.NewPet, err error) {
	if err = Decode("name", m.Name, &p.Name, "a string"); err != nil {
		return p, err
	}
	if err = Decode("categoryId", m.CategoryID, &p.CategoryID, integer); err != nil {
		return p, err
	}
	if m.Status == nil {
		return p, nil
	}
	err = Decode("status", m.Status, &p.Status, "a string")
	if err == nil && p.Status == "" { // which stands for none in the model
		err = petstore.Errorf(petstore.CodeInvalid, "status: must not be empty")
	}
	return p, err
}

// Pet decodes all members, as NewPet does.
func (m *Members) Pet() (p petstore.Pet, err error) {
	if err = Decode("id", m.ID, &p.ID, integer); err == nil {
		p.NewPet, err = m.NewPet()
	}
	return p, err
}

// Decode decodes the value of a member into v, which is a pointer.
func Decode(name string, value jsontext.Value, v any, must string) error {
	switch {
	case value == nil:
		return petstore.Errorf(petstore.CodeInvalid, "%s: is missing", name)
	case value.Kind() == 'n' || json.Unmarshal(value, v) != nil:
		return petstore.Errorf(petstore.CodeInvalid, "%s: must be %s, got %.100s", name, must, value)
	}
	return nil
}
