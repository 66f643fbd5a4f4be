package petstoretest

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// member is a member of a JSON object as it is written, the name in quotes.
type member struct{ name, value string }

// isJSON reports whether the response is one of the contract that has a body.
func (x *exchange) isJSON() bool {
	return x.path != "/openapi.json" && jsontext.Value(x.response).IsValid()
}

// edit changes the members of the object, or of every object of the array, that
// the response is. It returns false if the response is nothing of that.
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
