package wire

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// object is a JSON object with its members as they were written.
type object map[string]jsontext.Value

// lenient accepts duplicate names and unpaired surrogates: the contract says
// nothing about them in a response.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// JSON returns the body, which must be one JSON text (RFC 8259).
func (x *Exchange) JSON() (jsontext.Value, error) {
	var v jsontext.Value
	switch {
	case len(x.Body) == 0:
		return nil, errors.New("the body is empty, not JSON")
	case bytes.HasPrefix(x.Body, []byte("\ufeff")):
		return nil, errors.New("the body begins with a byte order mark, which RFC 8259 (section 8.1) forbids")
	case !utf8.Valid(x.Body):
		return nil, errors.New("the body is not JSON: it is not UTF-8")
	}
	if err := json.Unmarshal(x.Body, &v, lenient); err != nil {
		return nil, fmt.Errorf("the body is not JSON: %w", notJSON(x.Body, err))
	}
	return v, nil
}

// notJSON returns err with what is around the place where b is not JSON: a report may cut b off before it.
func notJSON(b []byte, err error) error {
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
		return err
	}
	at := min(int(syntax.ByteOffset), len(b))
	part := string(b[max(0, at-40):])
	if at > 40 {
		part = "…" + part
	}
	return fmt.Errorf("from byte %d on, in %s", at, short(strconv.Quote(part)))
}

// Object returns an error unless the body is a JSON object.
func (x *Exchange) Object() error {
	_, err := x.object()
	return err
}

// Str returns the member of the body with that name, which must be a string.
func (x *Exchange) Str(name string) (string, error) {
	o, err := x.object()
	if err != nil {
		return "", err
	}
	return o.str(name)
}

// Int64 returns the member of the body with that name, which must be an integer.
func (x *Exchange) Int64(name string) (int64, error) {
	o, err := x.object()
	if err != nil {
		return 0, err
	}
	return o.int64(name)
}

func (x *Exchange) object() (object, error) {
	v, err := x.JSON()
	if err != nil {
		return nil, err
	}
	return readObject(v)
}

func readObject(v jsontext.Value) (object, error) {
	var o object
	if v.Kind() != '{' {
		return nil, isNot("an object", v)
	}
	err := json.Unmarshal(v, &o, lenient)
	return o, err
}

// array returns the elements of the array that the body must be.
func (x *Exchange) array() ([]jsontext.Value, error) {
	v, err := x.JSON()
	if err != nil {
		return nil, err
	}
	if v.Kind() != '[' {
		return nil, isNot("an array", v)
	}
	var a []jsontext.Value
	err = json.Unmarshal(v, &a, lenient)
	return a, err
}

// isNot returns the error for v, which should be what.
func isNot(what string, v jsontext.Value) error {
	return fmt.Errorf("is %s, not %s", short(string(v)), what)
}

// str returns the string that a member must be.
func (o object) str(name string) (s string, err error) {
	switch v, ok := o[name]; {
	case !ok:
		return "", fmt.Errorf("%s: missing", name)
	case v.Kind() != '"':
		return "", fmt.Errorf("%s: %w", name, isNot("a string", v))
	default:
		err = json.Unmarshal(v, &s, lenient)
		return s, err
	}
}

// int64 returns the integer that a member must be, exactly. JSON allows an integer to be
// written with a fraction of zero or an exponent.
func (o object) int64(name string) (int64, error) {
	v, ok := o[name]
	if !ok {
		return 0, fmt.Errorf("%s: missing", name)
	}
	f, _, err := big.ParseFloat(string(v[:min(len(v), 1000)]), 10, 4096, big.ToZero)
	if err != nil || !f.IsInt() || v.Kind() != '0' {
		return 0, fmt.Errorf("%s: %w", name, isNot("an integer", v))
	}
	n, accuracy := f.Int64()
	if accuracy != big.Exact {
		return 0, fmt.Errorf("%s: %s does not fit in an int64", name, short(string(v)))
	}
	return n, nil
}
