package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/petstore"
)

// decodeNewPet decodes the body of createPet (contract, section 2.1).
func decodeNewPet(body []byte) (p petstore.NewPet, err error) {
	err = decodeObject(body,
		member{"name", true, &p.Name},
		member{"categoryId", true, &p.CategoryID},
		member{"status", false, &p.Status},
	)
	return p, err
}

// decodeText decodes the body of submitMessage (contract, section 4.4).
func decodeText(body []byte) (text string, err error) {
	err = decodeObject(body, member{"message", true, &text})
	return text, err
}

// member is a member that the contract names.
type member struct {
	name     string
	required bool
	dst      any // a *string, *int64 or *petstore.Status
}

// decodeObject decodes a body of exactly one JSON object. The decoder refuses
// duplicate names, invalid UTF-8 and lone surrogates, at any depth, and nesting
// deeper than 10,000. Other members are ignored. Names are case-sensitive.
func decodeObject(body []byte, members ...member) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(body))
	if dec.PeekKind() != '{' {
		return notAnObject(body, dec)
	}
	_, _ = dec.ReadToken() // the brace just seen

	seen := make([]bool, len(members))
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return syntaxError(body, err)
		}
		if token.Kind() == '}' {
			break
		}
		name := token.String()
		i := slices.IndexFunc(members, func(m member) bool { return m.name == name })
		if i < 0 {
			if err := dec.SkipValue(); err != nil {
				return syntaxError(body, err)
			}
			continue
		}
		value, err := dec.ReadValue()
		if err != nil {
			return syntaxError(body, err)
		}
		if err := decodeInto(members[i].dst, value); err != nil {
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

// notAnObject returns the error for a body that does not start with a brace.
func notAnObject(body []byte, dec *jsontext.Decoder) error {
	value, err := dec.ReadValue()
	switch {
	case err == io.EOF:
		return invalid("body", errors.New("is missing; must be a JSON object"))
	case err != nil:
		return syntaxError(body, err)
	}
	return invalid("body", errors.New("must be a JSON object, not "+describe(value.Kind())))
}

// syntaxError returns an error that says where a body is not JSON, and why.
func syntaxError(body []byte, err error) error {
	e, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
		return petstore.Errorf(petstore.CodeInvalid, "body: not valid JSON")
	}
	at, what := syntaxProblem(body, int(e.ByteOffset), e.Err)
	where := ""
	if pointer := string(e.JSONPointer); pointer != "" {
		const longest = 100 // a name may be as long as the body
		if len(pointer) > longest {
			pointer = pointer[:longest] + "..."
		}
		where = " (in " + strconv.Quote(pointer) + ")"
	}
	return petstore.Errorf(petstore.CodeInvalid, "body: not valid JSON at byte %d%s: %s", at, where, what)
}

// syntaxProblem describes the error that the decoder found at a byte, and
// returns where that error starts. The decoder's own messages need knowledge of
// its grammar: for an unquoted name it says "in literal null".
func syntaxProblem(body []byte, at int, err error) (int, string) {
	if err == io.ErrUnexpectedEOF || at >= len(body) {
		return at, "the body ends too early"
	}
	switch c := body[at]; {
	case c == '\'':
		return at, "names and strings must be in double quotes, got a single quote"
	case c == '/':
		return at, "comments are not allowed"
	case isWord(c): // the decoder never stops at one within a string
		start, end := at, at
		for start > 0 && isWord(body[start-1]) {
			start--
		}
		for end < len(body) && isWord(body[end]) {
			end++
		}
		if word := body[start:end]; !jsontext.Value(word).IsValid() {
			return start, fmt.Sprintf("must be a name or string in double quotes, a number, true, false or null; got %.40s", word)
		}
	case c == ',', (c == '}' || c == ']') && bytes.HasSuffix(bytes.TrimRight(body[:at], " \t\r\n"), []byte(",")):
		return at, "a comma must be between two members or values"
	}
	return at, err.Error()
}

// isWord reports whether c may be in an unquoted name or a number.
func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("_$+-.", c) >= 0
}

// decodeInto decodes the value of a member into dst. Its error does not name the
// member.
func decodeInto(dst any, v jsontext.Value) error {
	if n, ok := dst.(*int64); ok {
		return decodeInt64(n, v)
	}
	if v.Kind() != '"' {
		return errors.New("must be a string, not " + describe(v.Kind()))
	}
	b, err := jsontext.AppendUnquote(nil, v)
	switch dst := dst.(type) {
	case *string:
		*dst = string(b)
	case *petstore.Status:
		*dst, err = parseStatus(string(b))
	}
	return err
}

// decodeInt64 accepts only numbers written as integers, so not 1.0 or 1e2.
func decodeInt64(dst *int64, v jsontext.Value) error {
	if v.Kind() != '0' {
		return errors.New("must be an integer, not " + describe(v.Kind()))
	}
	if bytes.ContainsAny(v, ".eE") {
		return errors.New("must be an integer, written without fraction or exponent")
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil { // in valid JSON only the range can be wrong
		return fmt.Errorf("must be an integer from %d to %d", int64(math.MinInt64), int64(math.MaxInt64))
	}
	*dst = n
	return nil
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
