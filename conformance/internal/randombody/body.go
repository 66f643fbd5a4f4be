// Package randombody makes request bodies from a random source: valid ones, and
// ones with exactly one fault. It shrinks a body that fails a check to a small
// one that still fails.
package randombody

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/conformance/internal/probe"
)

// Shape is what the contract says about a request body: its members, and how
// to write a valid value of each.
type Shape []member

type member struct {
	name     string
	required bool
	marked   bool // its text ends in a mark, which makes it unique
	valid    func(*rand.Rand) value
	check    func(jsontext.Value) error // the error says what is wrong with a value
}

// value is a JSON value as it is written: raw text, or a string in pieces, each
// a character or an escape.
type value struct {
	raw    string
	pieces []string // not nil: a string
}

// Body is a request body in its parts, so that it can be shrunk.
type Body struct {
	members []bodyMember
	mark    string // ends the marked string
	indent  bool
	after   string // follows the object
	cut     int    // how many bytes are missing at the end
}

type bodyMember struct {
	name   string
	value  value
	marked bool
}

// String returns the body as it is sent.
func (d Body) String() string {
	sep, open, close := ",", "{", "}"
	if d.indent {
		sep, open, close = " ,\n\t", "{\n\t", "\n}"
	}
	var members []string
	for _, m := range d.members {
		text := m.value.raw
		if m.value.pieces != nil {
			text = `"` + strings.Join(m.value.pieces, "")
			if m.marked {
				text += d.mark
			}
			text += `"`
		}
		members = append(members, fmt.Sprintf("%q:%s", m.name, text))
	}
	body := open + strings.Join(members, sep) + close + d.after
	return body[:max(0, len(body)-d.cut)]
}

// Faults returns everything that is wrong with a body. It reads the body
// independently of how it was made.
func (s Shape) Faults(body string) []string {
	v := jsontext.Value(body)
	if !v.IsValid() { // strict: no duplicate names, only UTF-8, nothing after the value
		return []string{"it is not JSON"}
	}
	o, err := probe.ParseObject(jsontext.Value(strings.TrimSpace(body)))
	if err != nil {
		return []string{err.Error()}
	}
	var faults []string
	for _, m := range s {
		v, ok := o[m.name]
		switch {
		case !ok && m.required:
			faults = append(faults, m.name+" is missing")
		case ok:
			if err := m.check(v); err != nil {
				faults = append(faults, m.name+" "+err.Error())
			}
		}
	}
	return faults
}

func isString(v jsontext.Value) error {
	if v.Kind() != '"' {
		return fmt.Errorf("is %s, not a string", probe.Describe(v))
	}
	return nil
}

func isStatus(v jsontext.Value) error {
	if !slices.Contains([]string{`"available"`, `"pending"`, `"sold"`}, string(v)) {
		return fmt.Errorf("is %s, not a status", probe.Describe(v))
	}
	return nil
}

func isInt64(v jsontext.Value) error {
	_, err := probe.Int64(v)
	return err
}

// Pet is the shape of NewPet. If free is true, valid values of categoryId are
// positive; otherwise the only one is category.
func Pet(category int64, free bool) Shape {
	return Shape{
		{name: "name", required: true, marked: true, valid: randomText, check: isString},
		{name: "categoryId", required: true, check: isInt64, valid: func(r *rand.Rand) value {
			if !free {
				return value{raw: fmt.Sprint(category)}
			}
			return value{raw: fmt.Sprint(max(1, r.Int64()>>r.IntN(63)))}
		}},
		{name: "status", check: isStatus, valid: func(r *rand.Rand) value {
			return value{pieces: []string{randomStatus(r)}}
		}},
	}
}

func randomStatus(r *rand.Rand) string { return []string{"available", "pending", "sold"}[r.IntN(3)] }

// AcceptedPet is [Pet] where other values of categoryId are faults: a target may
// refuse them, so a valid body must not shrink to one.
func AcceptedPet(category int64, free bool) Shape {
	s := Pet(category, free)
	s[1].check = func(v jsontext.Value) error {
		n, err := probe.Int64(v)
		if err == nil && (n < 1 || !free && n != category) {
			err = fmt.Errorf("is %d, which the target may refuse", n)
		}
		return err
	}
	return s
}

// Message is the shape of the body of POST /messages.
func Message() Shape {
	return Shape{{name: "message", required: true, marked: true, valid: randomText, check: isString}}
}

// randomText returns a text that a target has no reason to refuse: it has no
// control characters, and does not begin or end with a space.
func randomText(r *rand.Rand) value {
	pools := []string{
		"abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789", " ",
		".,;:-_!?()[]{}<>&%$#@+=*^~|/'`", "äöüßéèñçøåžš", "\u0301\u0308\u0327", "猫犬鳥魚龍", "שלום", "नमस्ते", "🦊🐶𝕏𠮷🐾",
	}
	n := 1 + r.IntN(40)
	pieces := make([]string, 0, n+1)
	for range n {
		pool := []rune(pools[r.IntN(len(pools))])
		c := pool[r.IntN(len(pool))]
		switch {
		case r.IntN(8) == 0 && c <= 0xffff:
			pieces = append(pieces, fmt.Sprintf(`\u%04x`, c))
		case r.IntN(8) == 0:
			pieces = append(pieces, []string{`\"`, `\\`, `\/`}[r.IntN(3)])
		default:
			pieces = append(pieces, string(c))
		}
	}
	if strings.TrimSpace(pieces[0]) == "" || pieces[0] == `\u0020` {
		pieces[0] = "a"
	}
	return value{pieces: pieces}
}

// Valid returns a valid body. Its text ends with mark.
func (s Shape) Valid(r *rand.Rand, mark string) Body {
	d := Body{mark: mark, indent: r.IntN(3) == 0}
	for _, m := range s {
		if m.required || r.IntN(2) == 0 {
			d.members = append(d.members, bodyMember{m.name, m.valid(r), m.marked})
		}
	}
	r.Shuffle(len(d.members), func(i, j int) { d.members[i], d.members[j] = d.members[j], d.members[i] })
	return d
}

// Faulty returns a body with exactly one fault.
func (s Shape) Faulty(r *rand.Rand, mark string) Body {
	for {
		d := s.Valid(r, mark)
		i := r.IntN(len(d.members))
		switch r.IntN(6) {
		case 0:
			d.members = slices.Delete(d.members, i, i+1)
		case 1:
			d.cut = 1 + r.IntN(len(d.String())-1)
		case 2:
			d.after = []string{"x", ",", "}", "{}", " 0", "null"}[r.IntN(6)]
		default:
			d.members[i].value = wrongValue(r)
		}
		// The change may have made no fault, or two: the status may be absent,
		// and a string may replace a string.
		if len(s.Faults(d.String())) == 1 {
			return d
		}
	}
}

func wrongValue(r *rand.Rand) value {
	switch r.IntN(9) {
	case 0:
		return value{raw: "null"}
	case 1:
		return value{raw: []string{"true", "false"}[r.IntN(2)]}
	case 2:
		return value{raw: fmt.Sprintf("%d.%d", r.IntN(1000), 1+r.IntN(9))}
	case 3:
		return value{raw: fmt.Sprintf("%s%d%018d", []string{"", "-"}[r.IntN(2)], 10+r.IntN(1000), r.Int64N(1e18))}
	case 4:
		return value{raw: fmt.Sprintf("[%d]", r.IntN(10))}
	case 5:
		return value{raw: `{"a":1}`}
	case 6:
		return value{raw: fmt.Sprint(r.IntN(1000))}
	case 7: // almost a status
		s := randomStatus(r)
		return value{pieces: []string{[]string{strings.ToUpper(s), s[1:], s[:len(s)-1], s + "s", s + ","}[r.IntN(5)]}}
	}
	return randomText(r)
}
