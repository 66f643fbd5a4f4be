package conformance

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// shape is what the contract says of a request body: its members, and how to
// write a valid value of each.
type shape []shapeMember

type shapeMember struct {
	name     string
	required bool
	marked   bool // its text ends in the run's own mark, so that it is unique
	valid    func(*rand.Rand) value

	// check says what is wrong with a value of the member.
	check func(jsontext.Value) error
}

// value is a JSON value as it is written: raw text, or the pieces of a
// string, each a character or an escape.
type value struct {
	raw    string
	pieces []string // not nil: a string
}

// draft is a body under construction, so that it can be made smaller and
// still be understood.
type draft struct {
	members []draftMember
	mark    string // ends the marked string
	indent  bool
	after   string // stands after the object
	cut     int    // bytes that are missing at the end
}

type draftMember struct {
	name   string
	value  value
	marked bool
}

func (d draft) body() string {
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

// faults returns everything that is wrong with a body, by an understanding of
// the contract that shares nothing with the generator.
func (s shape) faults(body string) []string {
	v := jsontext.Value(body)
	if !v.IsValid() { // strict: no duplicates, UTF-8 only, nothing after it
		return []string{"it is not JSON"}
	}
	o, err := parseObject(jsontext.Value(strings.TrimSpace(body)))
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
		return fmt.Errorf("is %s, not a string", describe(v))
	}
	return nil
}

func isStatus(v jsontext.Value) error {
	if i := slices.Index([]string{`"available"`, `"pending"`, `"sold"`}, string(v)); i < 0 {
		return fmt.Errorf("is %s, no status", describe(v))
	}
	return nil
}

func isInt64(v jsontext.Value) error {
	_, err := exactInt64(v)
	return err
}

// petShape is NewPet. If free is false only the given category is written,
// else any that is positive.
func petShape(category int64, free bool) shape {
	return shape{
		{name: "name", required: true, marked: true, valid: randomText, check: isString},
		{name: "categoryId", required: true, check: isInt64, valid: func(r *rand.Rand) value {
			if !free {
				return value{raw: fmt.Sprint(category)}
			}
			return value{raw: fmt.Sprint(max(1, r.Int64()>>r.IntN(63)))}
		}},
		{name: "status", check: isStatus, valid: func(r *rand.Rand) value {
			return value{pieces: []string{statuses()[r.IntN(3)]}}
		}},
	}
}

// validPetShape is what a target with rules of its own for categories takes
// as well: making a body smaller must not run into those.
func validPetShape(category int64, free bool) shape {
	s := petShape(category, free)
	s[1].check = func(v jsontext.Value) error {
		n, err := exactInt64(v)
		if err == nil && (n < 1 || !free && n != category) {
			err = fmt.Errorf("is %d, which the target may refuse", n)
		}
		return err
	}
	return s
}

func messageShape() shape {
	return shape{{name: "message", required: true, marked: true, valid: randomText, check: isString}}
}

// randomText returns a text that no rule of good sense would refuse: no
// control characters, no space at an end.
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

// valid returns a body without fault.
func (s shape) valid(r *rand.Rand, mark string) draft {
	d := draft{mark: mark, indent: r.IntN(3) == 0}
	for _, m := range s {
		if m.required || r.IntN(2) == 0 {
			d.members = append(d.members, draftMember{m.name, m.valid(r), m.marked})
		}
	}
	r.Shuffle(len(d.members), func(i, j int) { d.members[i], d.members[j] = d.members[j], d.members[i] })
	return d
}

// faulty returns a body with exactly one fault.
func (s shape) faulty(r *rand.Rand, mark string) draft {
	for {
		d := s.valid(r, mark)
		i := r.IntN(len(d.members))
		switch r.IntN(6) {
		case 0:
			d.members = slices.Delete(d.members, i, i+1)
		case 1:
			d.cut = 1 + r.IntN(len(d.body())-1)
		case 2:
			d.after = []string{"x", ",", "}", "{}", " 0", "null"}[r.IntN(6)]
		default:
			d.members[i].value = wrongValue(r)
		}
		// What was done may have been no fault, or two: a status left out, a
		// string for a string.
		if len(s.faults(d.body())) == 1 {
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
	case 7: // nearly a status
		s := statuses()[r.IntN(3)]
		return value{pieces: []string{[]string{strings.ToUpper(s), s[1:], s[:len(s)-1], s + "s", s + ","}[r.IntN(5)]}}
	}
	return randomText(r)
}
