package probe

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Object is a JSON object with its members as they were written.
type Object map[string]jsontext.Value

// lenient accepts duplicate names and unpaired surrogates: the contract says
// nothing about them in a response.
func lenient() json.Options {
	return json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// ParseJSON checks that b is one JSON text (RFC 8259) and returns it without
// the white space around it.
func ParseJSON(b []byte) (jsontext.Value, error) {
	if len(b) == 0 {
		return nil, errors.New("the body is empty, not JSON")
	}
	if bytes.HasPrefix(b, []byte("\ufeff")) {
		return nil, errors.New("the body begins with a byte order mark, which RFC 8259 (section 8.1) forbids")
	}
	if !utf8.Valid(b) {
		return nil, errors.New("the body is not JSON: it is not UTF-8")
	}
	v := jsontext.Value(bytes.Trim(b, " \t\r\n"))
	if !v.IsValid(lenient()) {
		return nil, errors.New("the body is not valid JSON")
	}
	return v, nil
}

// ParseObject returns the object that v must be.
func ParseObject(v jsontext.Value) (Object, error) {
	if v.Kind() != '{' {
		return nil, fmt.Errorf("is %s, not an object", Describe(v))
	}
	var o Object
	err := json.Unmarshal(v, &o, lenient())
	return o, err
}

// ParseArray returns the elements of the array that v must be.
func ParseArray(v jsontext.Value) ([]jsontext.Value, error) {
	if v.Kind() != '[' {
		return nil, fmt.Errorf("is %s, not an array", Describe(v))
	}
	var a []jsontext.Value
	err := json.Unmarshal(v, &a, lenient())
	return a, err
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
		return "", fmt.Errorf("%s: is %s, not a string", name, Describe(v))
	}
	var s string
	err = json.Unmarshal(v, &s, lenient())
	return s, err
}

// Int64 returns the integer of format int64 that a member must be.
func (o Object) Int64(name string) (int64, error) {
	v, err := o.Member(name)
	if err != nil {
		return 0, err
	}
	n, err := Int64(v)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return n, nil
}

// Int64 returns the integer that v must be, exactly. JSON allows an integer to
// be written with a fraction of zero or an exponent.
func Int64(v jsontext.Value) (int64, error) {
	if v.Kind() != '0' {
		return 0, fmt.Errorf("is %s, not an integer", Describe(v))
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

// Describe returns what v is, for a message.
func Describe(v jsontext.Value) string {
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
