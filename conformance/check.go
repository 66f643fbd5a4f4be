package conformance

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// Level says where a requirement comes from, and so what a violation means.
type Level string

const (
	// Required: the contract states it. A violation is a failure.
	Required Level = "required"

	// Recommended: an RFC states it and the contract does not, or the contract can
	// be read in another way. A violation is a warning.
	Recommended Level = "recommended"
)

// Check is one thing that a target must do. A run judges every exchange to which the
// check applies.
type Check struct {
	// ID names the check, as in pets.list.limit.above. It never changes, and no
	// other check ever gets it.
	ID string `json:"id"`

	// Title says what the target must do.
	Title string `json:"title"`

	// Clause is the ID of the check's [Clause].
	Clause string `json:"clause"`

	Level Level `json:"level"`

	basic basic

	// applies selects the exchanges that the check judges. If there are none, the
	// check is inconclusive. If idle, it passes: a target can conform and never do
	// what the check is about.
	applies func(*exchange) bool
	idle    bool

	// attempts says that the check judges requests that were not served, too.
	attempts bool

	// wrong says what is wrong with an exchange; "": nothing. wrongPet says the same
	// about a pet in it. A check has one of the two.
	wrong    func(*exchange) string
	wrongPet func(*exchange) (id int64, wrong string)
}

// basic says how basic a check is. What violates a more basic one says little about the
// others.
type basic int

const (
	aboutResponse basic = iota // there is one
	aboutStatus
	aboutShape
	aboutIdentity
	aboutValues
)

// Clause is one statement, in the suite's words, with the checks that judge it. A
// statement of the contract that no request can show has none.
type Clause struct {
	ID      string
	Section string // of the contract or of an RFC
	Text    string

	// Why says what goes wrong for the clients of a target that violates it.
	Why string

	// Arguable says that the contract can also be read in another way, by which a
	// target that violates the clause conforms.
	Arguable bool

	Checks []Check
}

// Level returns the level of the clause's checks.
func (cl Clause) Level() Level {
	if cl.Arguable || strings.HasPrefix(cl.Section, "RFC") {
		return Recommended
	}
	return Required
}

// Clauses returns every clause: what the contract states, and what is recommended.
func Clauses() []Clause { return slices.Clone(clauses()) }

var clauses = sync.OnceValue(func() []Clause {
	clauses := clauseTable()
	for _, c := range slices.Concat(responseChecks(), listChecks(), createChecks(), getChecks(), messageChecks(), errorChecks(), keyChecks()) {
		i := slices.IndexFunc(clauses, func(cl Clause) bool { return cl.ID == c.Clause })
		c.Level = clauses[i].Level()
		clauses[i].Checks = append(clauses[i].Checks, c)
	}
	return clauses
})

// ofMessages reports whether c is skipped if the target has no messages.
func (c Check) ofMessages() bool { return strings.HasPrefix(c.ID, "messages.") }

// Checks returns every check, the most basic ones first.
func Checks() []Check { return slices.Clone(checks()) }

var checks = sync.OnceValue(func() []Check {
	var checks []Check
	for _, cl := range clauses() {
		checks = append(checks, cl.Checks...)
	}
	slices.SortStableFunc(checks, func(a, b Check) int {
		if a.Level != b.Level {
			return strings.Compare(string(b.Level), string(a.Level)) // required first
		}
		return int(a.basic - b.basic)
	})
	return checks
})

// FindClause returns the clause with that ID.
func FindClause(id string) (Clause, bool) {
	i := slices.IndexFunc(clauses(), func(cl Clause) bool { return cl.ID == id })
	if i < 0 {
		return Clause{}, false
	}
	return clauses()[i], true
}

// Select returns the checks whose IDs match one of the globs, as Run of [Options] selects
// them. A glob that matches no check is an error with [ErrOptions] in its tree.
func Select(globs []string) ([]Check, error) {
	matches := func(glob string) func(Check) bool {
		return func(c Check) bool { ok, _ := path.Match(glob, c.ID); return ok }
	}
	for _, glob := range globs {
		if !slices.ContainsFunc(checks(), matches(glob)) {
			return nil, optionsError("%q matches no check; * stands for any text, as in pets.list.*", glob)
		}
	}
	return slices.DeleteFunc(Checks(), func(c Check) bool {
		return len(globs) > 0 && !slices.ContainsFunc(globs, func(glob string) bool { return matches(glob)(c) })
	}), nil
}
