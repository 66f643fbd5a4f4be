package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// object is a JSON object of an answer, its members as they came. Members
// that the contract does not name are allowed and ignored.
type object map[string]jsontext.Value

// lenient reads what a grammar of JSON allows: the contract says nothing
// about duplicate names or escapes of half a surrogate pair in an answer.
func lenient() json.Options {
	return json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// parse checks that b is one JSON text (RFC 8259), and returns it.
func parse(b []byte) (jsontext.Value, error) {
	if len(b) == 0 {
		return nil, errors.New("the body is empty, not JSON")
	}
	if !utf8.Valid(b) {
		return nil, errors.New("the body is not JSON: it is not UTF-8")
	}
	v := jsontext.Value(bytes.Trim(b, " \t\r\n"))
	if !v.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		return nil, errors.New("the body is not valid JSON")
	}
	return v, nil
}

func parseObject(v jsontext.Value) (object, error) {
	if v.Kind() != '{' {
		return nil, fmt.Errorf("is %s, not an object", describe(v))
	}
	var o object
	err := json.Unmarshal(v, &o, lenient())
	return o, err
}

func parseArray(v jsontext.Value) ([]jsontext.Value, error) {
	if v.Kind() != '[' {
		return nil, fmt.Errorf("is %s, not an array", describe(v))
	}
	var a []jsontext.Value
	err := json.Unmarshal(v, &a, lenient())
	return a, err
}

func (o object) member(name string) (jsontext.Value, error) {
	v, ok := o[name]
	if !ok {
		return nil, fmt.Errorf("%s: missing", name)
	}
	return v, nil
}

// str returns the string that member name must hold.
func (o object) str(name string) (string, error) {
	v, err := o.member(name)
	if err != nil {
		return "", err
	}
	if v.Kind() != '"' {
		return "", fmt.Errorf("%s: is %s, not a string", name, describe(v))
	}
	var s string
	err = json.Unmarshal(v, &s, lenient())
	return s, err
}

// int64 returns the integer of format int64 that member name must hold.
func (o object) int64(name string) (int64, error) {
	v, err := o.member(name)
	if err != nil {
		return 0, err
	}
	n, err := exactInt64(v)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return n, nil
}

// exactInt64 returns the integer that v is, without a detour over floating
// point. An integer may be written with a fraction of zero or an exponent, as
// JSON allows.
func exactInt64(v jsontext.Value) (int64, error) {
	if v.Kind() != '0' {
		return 0, fmt.Errorf("is %s, not an integer", describe(v))
	}
	s := string(v)
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, nil
	}
	if len(s) > 1000 {
		return 0, fmt.Errorf("%s is not an int64", short(s))
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		if e, err := strconv.Atoi(s[i+1:]); err != nil || e < -400 || e > 400 {
			return 0, fmt.Errorf("%s is not an int64", short(s))
		}
	}
	r, ok := new(big.Rat).SetString(s)
	switch {
	case !ok || !r.IsInt():
		return 0, fmt.Errorf("%s is not an integer", short(s))
	case !r.Num().IsInt64():
		return 0, fmt.Errorf("%s does not fit in an int64", short(s))
	}
	return r.Num().Int64(), nil
}

// describe says what v is, for a message.
func describe(v jsontext.Value) string {
	switch v.Kind() {
	case 'n':
		return "null"
	case 't', 'f':
		return "the boolean " + string(v)
	case '"':
		return "the string " + short(string(v))
	case '0':
		return "the number " + short(string(v))
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	return "no JSON value"
}

// short cuts s to what a message can hold.
func short(s string) string { return cut(s, 80) }
