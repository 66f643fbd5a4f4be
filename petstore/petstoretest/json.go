package petstoretest

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// member is a member of a JSON object, in JSON: the name is in quotes.
type member struct{ name, value string }

// isJSON reports whether the response is JSON of an operation of the contract.
func (x *exchange) isJSON() bool {
	return x.path != "/openapi.json" && jsontext.Value(x.response).IsValid()
}

// edit changes the members of the response, if it is an object, or of each object
// in it, if it is an array. It returns false if the response is not JSON.
func (x *exchange) edit(change func([]member) []member) bool {
	if !x.isJSON() {
		return false
	}
	x.response = []byte(editObjects(string(x.response), change))
	return true
}

func editObjects(v string, change func([]member) []member) string {
	dec := jsontext.NewDecoder(strings.NewReader(v))
	read := func() string {
		v, err := dec.ReadValue()
		if err != nil {
			panic(err) // v is valid
		}
		return string(v)
	}
	begin, _ := dec.ReadToken()
	var parts []string
	switch begin.Kind() {
	case '[':
		for dec.PeekKind() != ']' {
			parts = append(parts, editObjects(read(), change))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case '{':
		var members []member
		for dec.PeekKind() != '}' {
			members = append(members, member{read(), read()})
		}
		for _, m := range change(members) {
			parts = append(parts, m.name+":"+m.value)
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	return v
}
