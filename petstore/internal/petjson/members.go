// Package petjson decodes the pets of requests, responses and exports, so that a new member of a
// pet is decoded in one place. It also lets package httpapi read pets as JSON from a store that
// keeps them so, rather than decode them and encode them again.
package petjson

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/petstore"
)

// Members are the members of a pet as they are in JSON; nil: missing.
type Members struct {
	ID         jsontext.Value `json:"id"`
	Name       jsontext.Value `json:"name"`
	CategoryID jsontext.Value `json:"categoryId"`
	Status     jsontext.Value `json:"status"`
}

// NewPet decodes all members but the ID. It does not validate the pet. Its errors have
// petstore.CodeInvalid, and name the member.
func (m *Members) NewPet() (p petstore.NewPet, err error) {
	err = Decode("name", m.Name, &p.Name)
	if err == nil {
		err = Decode("categoryId", m.CategoryID, &p.CategoryID)
	}
	if err == nil && m.Status != nil {
		err = Decode("status", m.Status, (*string)(&p.Status))
		if err == nil && p.Status == "" { // which stands for none in the model
			err = petstore.Errorf(petstore.CodeInvalid, "status: must not be empty")
		}
	}
	return p, err
}

// Pet decodes all members, as NewPet does.
func (m *Members) Pet() (p petstore.Pet, err error) {
	if err = Decode("id", m.ID, &p.ID); err == nil {
		p.NewPet, err = m.NewPet()
	}
	return p, err
}

// Decode decodes the value of a member into v, which is a *string or an *int64.
func Decode(name string, value jsontext.Value, v any) error {
	if value == nil {
		return petstore.Errorf(petstore.CodeInvalid, "%s: is missing", name)
	}
	var must string
	var err error
	switch v := v.(type) {
	case *string:
		var text []byte
		must = "a string"
		text, err = jsontext.AppendUnquote(nil, value)
		*v = string(text)
	case *int64:
		must = "a 64-bit integer, without fraction or exponent"
		*v, err = strconv.ParseInt(string(value), 10, 64)
	}
	if err != nil {
		return petstore.Errorf(petstore.CodeInvalid, "%s: must be %s, got %.100s", name, must, value)
	}
	return nil
}
