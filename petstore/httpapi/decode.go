package httpapi

import (
	"bytes"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/petjson"
)

// decodeNewPet decodes the body of createPet (contract, section 2.1).
func decodeNewPet(body []byte) (p petstore.NewPet, err error) {
	var members petjson.Members
	if err = decodeObject(body, &members); err == nil {
		p, err = members.NewPet()
	}
	if err == nil {
		err = p.Validate()
	}
	return p, err
}

// decodeText decodes the body of submitMessage (contract, section 4.4).
func decodeText(body []byte) (text string, err error) {
	var members struct {
		Message jsontext.Value `json:"message"`
	}
	if err = decodeObject(body, &members); err == nil {
		err = petjson.Decode("message", members.Message, &text)
	}
	if err == nil {
		err = petstore.ValidateText("message", text)
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
