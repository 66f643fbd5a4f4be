package httpapi

import (
	"bytes"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/rules"
)

// decodeNewPet decodes the body of createPet (contract, section 2.1).
func decodeNewPet(body []byte) (p petstore.NewPet, err error) {
	var members struct {
		Name       jsontext.Value `json:"name"`
		CategoryID jsontext.Value `json:"categoryId"`
		Status     jsontext.Value `json:"status"`
	}
	if err = decodeObject(body, &members); err != nil {
		return p, err
	}
	var name string
	if err = decodeMember("name", members.Name, &name, "a string"); err != nil {
		return p, err
	}
	var categoryID int64
	const integer = "a 64-bit integer, without fraction or exponent"
	if err = decodeMember("categoryId", members.CategoryID, &categoryID, integer); err != nil {
		return p, err
	}
	var status petstore.Status
	if members.Status != nil {
		if err = decodeMember("status", members.Status, &status, "a string"); err != nil {
			return p, err
		}
		if status == "" { // which stands for none in the model
			return p, invalid("status: must not be empty")
		}
	}
	p = rules.NewPet(name, categoryID, status)
	return p, p.Validate()
}

// decodeText decodes the body of submitMessage (contract, section 4.4).
func decodeText(body []byte) (text string, err error) {
	var members struct {
		Message jsontext.Value `json:"message"`
	}
	if err = decodeObject(body, &members); err == nil {
		err = decodeMember("message", members.Message, &text, "a string")
	}
	if err == nil {
		err = petstore.ValidateText(text)
	}
	return text, err
}

// decodeObject decodes a body of exactly one JSON object. The decoder refuses
// duplicate names, invalid UTF-8 and lone surrogates, at any depth, and nesting
// deeper than 10,000. It ignores other members. Names are case-sensitive.
func decodeObject(body []byte, members any) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return invalid("body: is missing; must be a JSON object")
	}
	err := json.Unmarshal(body, members)
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		const longest = 300 // a member's name may be as long as the body
		return invalid("body: not valid JSON: %.*s", longest, strings.TrimPrefix(e.Error(), "jsontext: "))
	}
	if err != nil || jsontext.Value(body).Kind() != '{' { // null is no error
		return invalid("body: must be a JSON object")
	}
	return nil
}

// decodeMember decodes a member's value into v, which is a pointer.
func decodeMember(name string, value jsontext.Value, v any, must string) error {
	switch {
	case value == nil:
		return invalid("%s: is missing", name)
	case value.Kind() == 'n' || json.Unmarshal(value, v) != nil:
		return invalid("%s: must be %s, got %.40s", name, must, value)
	}
	return nil
}
