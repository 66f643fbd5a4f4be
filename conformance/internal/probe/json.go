package probe

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// not returns the error for v, which should be what.
func not(what string, v jsontext.Value) error {
	return fmt.Errorf("is %s, not %s", describe(v), what)
}

// Object is a JSON object with its members as they were written.
type Object map[string]jsontext.Value

// lenient accepts duplicate names and unpaired surrogates: the contract says
// nothing about them in a response.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// parsed is the body of a response as JSON.
type parsed struct {
	once             sync.Once
	value            jsontext.Value
	object           Object
	noJSON, noObject error
}

// parse parses the body once: many checks read the same response.
func (x *Exchange) parse() *parsed {
	p := &x.parsed
	p.once.Do(func() {
		p.value, p.noJSON = parseJSON(x.Body)
		p.object, p.noObject = ParseObject(p.value)
	})
	return p
}

// JSON returns the body, which must be one JSON text (RFC 8259), without the white space
// around it.
func (x *Exchange) JSON() (jsontext.Value, error) {
	p := x.parse()
	return p.value, p.noJSON
}

// Object returns the object that the body must be.
func (x *Exchange) Object() (Object, error) {
	p := x.parse()
	return p.object, cmp.Or(p.noJSON, p.noObject)
}

// Array returns the elements of the array that the body must be.
func (x *Exchange) Array() ([]jsontext.Value, error) {
	v, err := x.JSON()
	if err != nil {
		return nil, err
	}
	if v.Kind() != '[' {
		return nil, not("an array", v)
	}
	var a []jsontext.Value
	err = json.Unmarshal(v, &a, lenient)
	return a, err
}

func parseJSON(b []byte) (jsontext.Value, error) {
	if len(b) == 0 {
		return nil, errors.New("the body is empty, not JSON")
	}
	if bytes.HasPrefix(b, []byte("\ufeff")) {
		return nil, errors.New("the body begins with a byte order mark, which RFC 8259 (section 8.1) forbids")
	}
	if !utf8.Valid(b) {
		valid := strings.ToValidUTF8(string(b), "")
		i := 0
		for i < len(valid) && b[i] == valid[i] {
			i++
		}
		return nil, breaksAt(b, i, "not JSON, since it is not UTF-8,")
	}
	d := jsontext.NewDecoder(bytes.NewReader(b), lenient)
	v, err := d.ReadValue()
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return nil, breaksAt(b, int(syntax.ByteOffset), "not valid JSON")
	} else if err != nil {
		return nil, errors.New("the body is not valid JSON: it has only white space")
	}
	end := int(d.InputOffset())
	if rest := bytes.TrimLeft(b[end:], " \t\r\n"); len(rest) > 0 {
		return nil, breaksAt(b, len(b)-len(rest), "not valid JSON")
	}
	return v.Clone(), nil
}

// breaksAt returns the error that the body is something from an offset on. It shows what is
// around the offset: a report may cut a body off before it.
func breaksAt(b []byte, offset int, what string) error {
	const around = 40
	before := string(b[max(0, offset-around):offset])
	if offset > around {
		before = "…" + before
	}
	from := Cut(string(b[offset:]), around)
	if from == "" {
		from = "the end"
	}
	if before == "" {
		return fmt.Errorf("the body is %s from its beginning: %s", what, from)
	}
	return fmt.Errorf("the body is %s from byte %d on: %s, after %s", what, offset, from, before)
}

// ParseObject returns the object that v must be.
func ParseObject(v jsontext.Value) (Object, error) {
	if v.Kind() != '{' {
		return nil, not("an object", v)
	}
	var o Object
	err := json.Unmarshal(v, &o, lenient)
	return o, err
}

// Member returns the value of a member.
func (o Object) Member(name string) (jsontext.Value, error) {
	v, ok := o[name]
	if !ok {
		return nil, fmt.Errorf("%s: missing", name)
	}
	return v, nil
}

// Str returns the string that a member must be.
func (o Object) Str(name string) (string, error) {
	v, err := o.Member(name)
	if err != nil {
		return "", err
	}
	if v.Kind() != '"' {
		return "", fmt.Errorf("%s: %w", name, not("a string", v))
	}
	var s string
	err = json.Unmarshal(v, &s, lenient)
	return s, err
}

// Int64 returns the integer of format int64 that a member must be.
func (o Object) Int64(name string) (int64, error) {
	v, err := o.Member(name)
	if err != nil {
		return 0, err
	}
	n, err := readInt64(v)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return n, nil
}

// readInt64 returns the integer that v must be, exactly. JSON allows an integer to be
// written with a fraction of zero or an exponent.
func readInt64(v jsontext.Value) (int64, error) {
	if v.Kind() != '0' {
		return 0, not("an integer", v)
	}
	f, _, err := big.ParseFloat(string(v[:min(len(v), 1000)]), 10, 4096, big.ToZero)
	if err != nil || !f.IsInt() {
		return 0, fmt.Errorf("%s is not an integer", Short(string(v)))
	}
	n, accuracy := f.Int64()
	if accuracy != big.Exact {
		return 0, fmt.Errorf("%s does not fit in an int64", Short(string(v)))
	}
	return n, nil
}

// describe returns what v is, for a message.
func describe(v jsontext.Value) string {
	switch v.Kind() {
	case 'n':
		return "null"
	case 't', 'f':
		return "the boolean " + string(v)
	case '"':
		return "the string " + Short(string(v))
	case '0':
		return "the number " + Short(string(v))
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	return "not a JSON value"
}
