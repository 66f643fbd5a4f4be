package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/petstore"
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
	if p.Name, err = decodeString(members.Name); err != nil {
		return p, invalid("name", err)
	}
	if p.CategoryID, err = decodeInt64(members.CategoryID); err != nil {
		return p, invalid("categoryId", err)
	}
	if members.Status != nil {
		var status string
		if status, err = decodeString(members.Status); err == nil {
			p.Status, err = parseStatus(status)
		}
		if err != nil {
			return p, invalid("status", err)
		}
	}
	return p, p.Validate()
}

// decodeText decodes the body of submitMessage (contract, section 4.4).
func decodeText(body []byte) (string, error) {
	var members struct {
		Message jsontext.Value `json:"message"`
	}
	if err := decodeObject(body, &members); err != nil {
		return "", err
	}
	text, err := decodeString(members.Message)
	if err != nil {
		return "", invalid("message", err)
	}
	return text, nil
}

// decodeObject decodes a body of exactly one JSON object. The decoder refuses
// duplicate names, invalid UTF-8 and lone surrogates, at any depth, and nesting
// deeper than 10,000. It ignores other members. Names are case-sensitive.
func decodeObject(body []byte, members any) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return invalid("body", errors.New("is missing; must be a JSON object"))
	}
	err := json.Unmarshal(body, members)
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		const longest = 300 // a member's name may be as long as the body
		return invalid("body", fmt.Errorf("not valid JSON: %.*s", longest, strings.TrimPrefix(e.Error(), "jsontext: ")))
	}
	if err != nil || jsontext.Value(body).Kind() != '{' { // null is no error
		return invalid("body", errors.New("must be a JSON object"))
	}
	return nil
}

var errMissing = errors.New("is missing")

// decodeString decodes a member's value. Its error does not name the member.
func decodeString(v jsontext.Value) (string, error) {
	switch {
	case v == nil:
		return "", errMissing
	case v.Kind() != '"':
		return "", fmt.Errorf("must be a string, got %.40s", v)
	}
	b, err := jsontext.AppendUnquote(nil, v)
	return string(b), err
}

// decodeInt64 decodes a member's value. It accepts only numbers written as
// integers, so not 1.0 or 1e2. Its error does not name the member.
func decodeInt64(v jsontext.Value) (int64, error) {
	if v == nil {
		return 0, errMissing
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("must be a 64-bit integer, without fraction or exponent, got %.40s", v)
	}
	return n, nil
}
