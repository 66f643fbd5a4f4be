package petstore

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// AppendJSON appends the JSON of p to dst: one object without white space, with
// the members id, name, categoryId and, if p has one, status, in this order. It
// is what json.Marshal returns, and the form of p in every response.
//
// It returns dst as it was, and the error of [NewPet.Validate], if p is not
// valid.
func (p Pet) AppendJSON(dst []byte) ([]byte, error) {
	b := append(dst, `{"id":`...)
	b = strconv.AppendInt(b, p.ID, 10)
	b = append(b, `,"name":`...)
	b, err := jsontext.AppendQuote(b, p.Name)
	if err != nil {
		return dst, errName // it fails for invalid UTF-8 only
	}
	b = append(b, `,"categoryId":`...)
	b = strconv.AppendInt(b, p.CategoryID, 10)
	if p.Status != "" {
		if !p.Status.Valid() {
			return dst, errStatus
		}
		b = append(b, `,"status":"`...)
		b = append(b, p.Status...) // needs no escaping
		b = append(b, '"')
	}
	return append(b, '}'), nil
}

// AppendJSON appends the JSON of p's pets to dst: an array of what
// [Pet.AppendJSON] appends, `[]` if there are none. It does not contain the
// cursor. It returns dst as it was, and an error, if a pet is not valid.
func (p Page) AppendJSON(dst []byte) ([]byte, error) {
	b := append(dst, '[')
	for i, pet := range p.Pets {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = pet.AppendJSON(b); err != nil {
			return dst, err
		}
	}
	return append(b, ']'), nil
}
