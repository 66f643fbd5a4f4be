// Package randombody makes request bodies from a random source: valid ones, and
// ones with exactly one fault. They are short enough to be read in a report.
package randombody

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Shape is what the contract says about a request body: its members, and how to
// write a valid and a wrong value of each.
type Shape []member

type member struct {
	name     string
	required bool
	valid    func(r *rand.Rand, mark string) string
	wrong    func(r *rand.Rand) []string // a value of each kind; Faulty adds those that are wrong for every member
}

// Pet is the shape of NewPet. If anyCategory is true, categoryId is an arbitrary
// positive integer; otherwise it is category.
func Pet(category int64, anyCategory bool) Shape {
	return Shape{
		{name: "name", required: true, valid: text, wrong: notText},
		{name: "categoryId", required: true, wrong: notInt64, valid: func(r *rand.Rand, _ string) string {
			if anyCategory {
				return fmt.Sprint(max(1, r.Int64()>>r.IntN(63)))
			}
			return fmt.Sprint(category)
		}},
		{name: "status", wrong: notStatus, valid: func(r *rand.Rand, _ string) string { return `"` + status(r) + `"` }},
	}
}

// Message is the shape of the body of POST /messages.
func Message() Shape {
	return Shape{{name: "message", required: true, valid: text, wrong: notText}}
}

// Valid returns a valid body, whose text ends with mark. The fault is empty, and the
// number is ignored: it is a parameter of Faulty.
func (s Shape) Valid(r *rand.Rand, mark string, _ int) (body, fault string) {
	return join(r, s.members(r, mark)), ""
}

// members returns the members of a valid body, in the order of s: "" for an
// optional one that is absent.
func (s Shape) members(r *rand.Rand, mark string) []string {
	members := make([]string, len(s))
	for i, m := range s {
		if m.required || r.IntN(2) == 0 {
			members[i] = m.write(m.valid(r, mark))
		}
	}
	return members
}

func (m member) write(value string) string { return fmt.Sprintf("%q:%s", m.name, value) }

// Faulty returns a body with exactly one fault, and the fault. Consecutive numbers n
// give every kind of fault in turn.
func (s Shape) Faulty(r *rand.Rand, mark string, n int) (body, fault string) {
	type wrong struct {
		member int
		value  string // "": it is missing
	}
	var wrongs []wrong
	for i, m := range s {
		values := append(m.wrong(r), "true", "false", fmt.Sprintf("%d.%d", r.IntN(1000), 1+r.IntN(9)), fmt.Sprintf("[%d]", r.IntN(10)), `{"a":1}`)
		if m.required { // null may mean that an optional member is absent
			values = append(values, "null", "")
		}
		for _, value := range values {
			wrongs = append(wrongs, wrong{i, value})
		}
	}
	endings := []string{"x", ",", "}", "{}", " 0", "null"}
	members := s.members(r, mark)
	n %= len(wrongs) + len(endings) + 1
	if n < len(wrongs) {
		m, value := s[wrongs[n].member], wrongs[n].value
		if value == "" {
			members[wrongs[n].member] = ""
			return join(r, members), m.name + " is missing"
		}
		members[wrongs[n].member] = m.write(value)
		return join(r, members), m.name + " is " + value
	}
	whole := join(r, members)
	if n -= len(wrongs); n < len(endings) {
		return whole + endings[n], endings[n] + " follows the object"
	}
	return whole[:1+r.IntN(len(whole)-1)], "it is cut short"
}

// join writes members in any order, on one line or on several.
func join(r *rand.Rand, members []string) string {
	r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	separator, open, end := ",", "{", "}"
	if r.IntN(3) == 0 {
		separator, open, end = " ,\n\t", "{\n\t", "\n}"
	}
	present := slices.DeleteFunc(members, func(m string) bool { return m == "" })
	return open + strings.Join(present, separator) + end
}

func pick(r *rand.Rand, values ...string) string { return values[r.IntN(len(values))] }

func status(r *rand.Rand) string { return pick(r, "available", "pending", "sold") }

func notText(r *rand.Rand) []string { return []string{fmt.Sprint(r.IntN(1000))} }

func notInt64(r *rand.Rand) []string {
	beyond := fmt.Sprintf("%d%018d", 10+r.IntN(1000), r.Int64N(1e18))
	far := fmt.Sprintf("%d.%de", 1+r.IntN(9), r.IntN(10))
	return []string{
		beyond, "-" + beyond,
		far + fmt.Sprint(19+r.IntN(280)), far + fmt.Sprint(310+r.IntN(300)), // the second is no float64 either
		text(r, ""), fmt.Sprintf(`"%d"`, r.IntN(1000)),
	}
}

func notStatus(r *rand.Rand) []string {
	s := status(r)
	values := []string{text(r, " is no status"), fmt.Sprint(r.IntN(1000))}
	for _, almost := range []string{strings.ToUpper(s), s[1:], s[:len(s)-1], s + "s", s + ","} {
		values = append(values, `"`+almost+`"`)
	}
	return values
}

// text returns a JSON string that ends with mark. It has no control characters and
// does not begin with a space, so a target has no reason to refuse it.
func text(r *rand.Rand, mark string) string {
	pools := []string{
		"aeiknrstAEIKNRST 0123456789", ".,;:-_!?()[]{}<>&%$#@+=*^~|/'`", "äöüßéèñçøåžš", "\u0301\u0308\u0327",
		"猫犬鳥魚龍", "שלום", "नमस्ते", "🦊🐶𝕏𠮷🐾",
	}
	var b strings.Builder
	b.WriteString(`"` + pick(r, "a", "Z", "0", "é", "猫", "🦊"))
	for range r.IntN(24) {
		pool := []rune(pick(r, pools...))
		c := pool[r.IntN(len(pool))]
		switch {
		case r.IntN(8) == 0 && c <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, c)
		case r.IntN(8) == 0:
			b.WriteString(pick(r, `\"`, `\\`, `\/`))
		default:
			b.WriteRune(c)
		}
	}
	return b.String() + mark + `"`
}
