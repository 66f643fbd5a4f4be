package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/petstore"
)

// decodeNewPet decodes the body of createPet (contract, section 2.1).
func decodeNewPet(body []byte) (p petstore.NewPet, err error) {
	err = decodeObject(body,
		member{"name", true, intoString(&p.Name)},
		member{"categoryId", true, intoInt64(&p.CategoryID)},
		member{"status", false, intoStatus(&p.Status)},
	)
	return p, err
}

// decodeText decodes the body of submitMessage (contract, section 4.4).
func decodeText(body []byte) (text string, err error) {
	err = decodeObject(body, member{"message", true, intoString(&text)})
	return text, err
}

// member is one that the contract names.
type member struct {
	name     string
	required bool
	decode   func(jsontext.Value) error // the error does not name the member
}

// decodeObject decodes a body of exactly one JSON object. The decoder itself
// refuses names given twice, invalid UTF-8 and lone surrogates, at any depth,
// and nesting deeper than 10,000. Members that the contract does not name are
// passed over; names are compared with case.
func decodeObject(body []byte, members ...member) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(body))
	if dec.PeekKind() != '{' {
		return notAnObject(dec)
	}
	_, _ = dec.ReadToken() // the brace just seen

	seen := make([]bool, len(members))
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return syntaxError(err)
		}
		if token.Kind() == '}' {
			break
		}
		i := index(members, token)
		if i < 0 {
			if err := dec.SkipValue(); err != nil {
				return syntaxError(err)
			}
			continue
		}
		value, err := dec.ReadValue()
		if err != nil {
			return syntaxError(err)
		}
		if err := members[i].decode(value); err != nil {
			return invalid(members[i].name, err)
		}
		seen[i] = true
	}

	end := dec.InputOffset()
	if _, err := dec.ReadToken(); err != io.EOF {
		return petstore.Errorf(petstore.CodeInvalid, "body: there is more after the JSON object, which ends at byte %d", end)
	}
	for i, m := range members {
		if m.required && !seen[i] {
			return invalid(m.name, errors.New("is missing"))
		}
	}
	return nil
}

// index returns the index of the member that name names, or -1.
func index(members []member, name jsontext.Token) int {
	s := name.String()
	for i := range members {
		if members[i].name == s {
			return i
		}
	}
	return -1
}

// notAnObject says what a body holds instead of an object.
func notAnObject(dec *jsontext.Decoder) error {
	value, err := dec.ReadValue()
	switch {
	case err == io.EOF:
		return invalid("body", errors.New("is missing; must be a JSON object"))
	case err != nil:
		return syntaxError(err)
	}
	return invalid("body", errors.New("must be a JSON object, not "+describe(value.Kind())))
}

// syntaxError says where a body is not JSON.
func syntaxError(err error) error {
	e, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
		return petstore.Errorf(petstore.CodeInvalid, "body: not valid JSON")
	}
	where := ""
	if at := string(e.JSONPointer); at != "" {
		const longest = 100 // a name may be as long as the body
		if len(at) > longest {
			at = at[:longest] + "..."
		}
		where = " (in " + strconv.Quote(at) + ")"
	}
	return petstore.Errorf(petstore.CodeInvalid, "body: not valid JSON at byte %d%s: %v", e.ByteOffset, where, e.Err)
}

func intoString(dst *string) func(jsontext.Value) error {
	return func(v jsontext.Value) error {
		if v.Kind() != '"' {
			return errors.New("must be a string, not " + describe(v.Kind()))
		}
		b, err := jsontext.AppendUnquote(nil, v)
		*dst = string(b)
		return err
	}
}

// intoInt64 takes numbers written as integers: 1.0 and 1e2 are none.
func intoInt64(dst *int64) func(jsontext.Value) error {
	return func(v jsontext.Value) error {
		if v.Kind() != '0' {
			return errors.New("must be an integer, not " + describe(v.Kind()))
		}
		if bytes.ContainsAny(v, ".eE") {
			return errors.New("must be an integer, written without fraction or exponent")
		}
		n, err := strconv.ParseInt(string(v), 10, 64)
		if err != nil { // JSON's grammar leaves nothing but the range
			return fmt.Errorf("must be an integer from %d to %d", int64(math.MinInt64), int64(math.MaxInt64))
		}
		*dst = n
		return nil
	}
}

func intoStatus(dst *petstore.Status) func(jsontext.Value) error {
	return func(v jsontext.Value) error {
		var s string
		if err := intoString(&s)(v); err != nil {
			return err
		}
		var err error
		*dst, err = parseStatus(s)
		return err
	}
}

// describe names a kind of JSON value, as in "must not be ...".
func describe(kind jsontext.Kind) string {
	switch kind {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	default:
		return "an array"
	}
}
