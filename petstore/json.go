package petstore

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// AppendJSON appends p's wire form to dst: one JSON object without white
// space, its members in the order id, name, categoryId, status, the last one
// absent if p has no status. It is the form that marshalling p gives, and the
// one form that answers carry, whoever makes them.
//
// It fails, with dst as it was, if p does not validate.
func (p Pet) AppendJSON(dst []byte) ([]byte, error) {
	if err := p.Validate(); err != nil {
		return dst, err
	}
	dst = append(dst, `{"id":`...)
	dst = strconv.AppendInt(dst, p.ID, 10)
	dst = append(dst, `,"name":`...)
	dst, _ = jsontext.AppendQuote(dst, p.Name) // fails for invalid UTF-8 only
	dst = append(dst, `,"categoryId":`...)
	dst = strconv.AppendInt(dst, p.CategoryID, 10)
	if p.Status != "" {
		// A valid status needs no escaping.
		dst = append(dst, `,"status":"`...)
		dst = append(dst, p.Status...)
		dst = append(dst, '"')
	}
	return append(dst, '}'), nil
}

// AppendJSON appends the wire form of p's pets to dst: a JSON array of
// what [Pet.AppendJSON] gives, `[]` if there are none. The cursor is no part
// of it. It fails, with dst as it was, if a pet does not validate.
func (p Page) AppendJSON(dst []byte) ([]byte, error) {
	n := len(dst)
	dst = append(dst, '[')
	for i, pet := range p.Pets {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = pet.AppendJSON(dst); err != nil {
			return dst[:n], err
		}
	}
	return append(dst, ']'), nil
}
