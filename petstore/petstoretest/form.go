package petstoretest

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
)

// member is a member of a JSON object, in JSON: the name is in quotes.
type member struct{ name, value string }

func unknownCode(x *exchange, r *rand.Rand) bool {
	codes := []string{`"E-4711"`, `"petstore.fault/7"`, `"Unbekannt"`, `"INVALID"`}
	return x.status >= 400 && x.edit(func(members []member) []member {
		for i := range members {
			if members[i].name == `"code"` {
				members[i].value = codes[r.IntN(len(codes))]
			}
		}
		return members
	})
}

func extraMembers(x *exchange, r *rand.Rand) bool {
	extra := []member{
		{`"_links"`, `{"self":[1,2]}`},
		{`"kind"`, `"thing"`},
		{`"error"`, `null`},
		{`"owner"`, `{"id":0,"name":"nobody","status":"lost"}`},
	}
	return x.edit(func(members []member) []member {
		n := r.IntN(len(extra) + 1)
		return slices.Concat(extra[:n], members, extra[n:])
	})
}

var jsonString = regexp.MustCompile(`"([^"\\]|\\.)*"`)

func jsonForm(x *exchange, r *rand.Rand) bool {
	ok := x.edit(func(members []member) []member {
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		return members
	})
	body := jsontext.Value(x.response)
	if !ok || body.Indent() != nil {
		return false
	}
	escaped := jsonString.ReplaceAllFunc(body, func(s []byte) []byte {
		text, _ := jsontext.AppendUnquote(nil, s)
		escaped := []byte{'"'}
		for _, unit := range utf16.Encode([]rune(string(text))) {
			escaped = fmt.Appendf(escaped, `\u%04x`, unit)
		}
		return append(escaped, '"')
	})
	x.response = slices.Concat([]byte("\r\n\t "), escaped, []byte(" \n\n"))
	return true
}

// edit changes the members of the response, if it is an object, or of each object
// in it, if it is an array. It returns false if the response is not JSON of an
// operation of the contract.
func (x *exchange) edit(change func([]member) []member) bool {
	if x.path == "/openapi.json" || !jsontext.Value(x.response).IsValid() {
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
