package conformance

import (
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

	// Observed: the contract leaves it open. The suite records what the target
	// does and does not judge it.
	Observed Level = "observed"
)

// judge returns the verdict of a check of that level that ended with v.
func (l Level) judge(v Verdict) Verdict {
	if v == Fail {
		return map[Level]Verdict{Required: Fail, Recommended: Warn, Observed: Pass}[l]
	}
	return v
}

// Feature is the part of the contract that a check belongs to.
type Feature string

// The checks of [FeatureMessages] run only if the target has a MessagesURL.
const (
	FeaturePets        Feature = "pets"
	FeatureDeprecation Feature = "deprecation"
	FeatureMessages    Feature = "messages"
)

// Check tests one thing that a target must do, or records what it does. It sends
// requests, or judges every exchange of the run by a rule, or both: then its requests
// make sure that there are exchanges to judge.
type Check struct {
	// ID names the check, as in pets.list.limit.max. It never changes, and no
	// other check ever gets it. Some IDs are built from parts.
	ID string `json:"id"`

	// Title says what the target must do.
	Title string `json:"title"`

	// Clause is the ID of the check's [Clause].
	Clause string `json:"clause"`

	Level   Level   `json:"level"`
	Feature Feature `json:"feature"`

	// Writes says that the check needs requests other than GET, so a read-only
	// run skips it. Other checks create what they need where they may, and
	// otherwise use what the target has.
	Writes bool `json:"writes"`

	// Why says what goes wrong for the clients of a target that fails.
	Why string `json:"why"`

	// Failure says what such a target does.
	Failure string `json:"failure"`

	phase phase
	slow  bool          // it waits for time to pass
	run   func(*tester) // nil: the check has only a rule
	every *rule         // nil: the check has only run
}

// phase is when a check runs. Each phase begins when the one before it has ended.
type phase int

const (
	// first checks run while a list shows every pet, if the target was empty at the
	// start.
	first phase = iota

	// filling checks add many pets and need no list that shows every pet.
	filling

	// late checks may run when the target holds more pets than a list can show.
	late

	// last checks send what a target may accept and then cannot show in a list.
	last

	// alone checks run one after another, after all others.
	alone

	phases // the number of phases
)

// Clause is one statement, in the suite's words, with the checks that test it.
type Clause struct {
	ID      string
	Section string // of the contract or of an RFC
	Text    string

	// Untestable says why no check can test the statement. Empty: Checks do.
	Untestable string

	// Open says that the contract leaves the matter open.
	Open bool

	// Arguable says that the contract can also be read in another way, by which a
	// target that violates the clause conforms.
	Arguable bool

	Checks []Check
}

// Level returns the level of the clause's checks.
func (cl Clause) Level() Level {
	switch {
	case cl.Open:
		return Observed
	case strings.HasPrefix(cl.Section, "RFC"), cl.Arguable:
		return Recommended
	}
	return Required
}

// checkTable returns the checks of all clauses that are not open. A check is
// defined in a file that is named after the start of its ID: pets.list.limit.max in
// pets_list_limit.go. The files pets_create_stored.go, pets_create_values.go and
// http_connection.go have checks of pets.create and http. Those of pets.create.400,
// messages.400 and generated are in bodies.go.
func checkTable() []Check {
	return slices.Concat(
		listChecks, limitChecks, filterChecks(),
		createChecks, statusChecks(), nameChecks(), categoryChecks(), refusedChecks, concurrentChecks, faultChecks(createOperation),
		getChecks, missingChecks, deprecationChecks,
		messageChecks, timeChecks, textChecks(), faultChecks(submitOperation),
		credentialChecks(), errorChecks(), serverErrorChecks, httpChecks, connectionChecks, clientChecks(), generatedChecks)
}

// Clauses returns every clause: what the contract states, what it leaves open,
// and what is recommended.
func Clauses() []Clause { return slices.Clone(clauses()) }

var clauses = sync.OnceValue(func() []Clause {
	clauses, checks := clauseTable(), checkTable()
	for i := range clauses {
		cl := &clauses[i]
		for _, c := range checks {
			if c.Clause == cl.ID {
				cl.Checks = append(cl.Checks, c)
			}
		}
		for i := range cl.Checks {
			c := &cl.Checks[i]
			c.Clause, c.Level, c.Feature = cl.ID, cl.Level(), featureOf(c.ID)
		}
	}
	return clauses
})

func featureOf(id string) Feature {
	switch {
	case strings.HasPrefix(id, "deprecation."):
		return FeatureDeprecation
	case strings.HasPrefix(strings.TrimPrefix(id, "generated."), "messages."):
		return FeatureMessages
	}
	return FeaturePets
}

// Checks returns every check, in the order of the clauses.
func Checks() []Check {
	var checks []Check
	for _, cl := range clauses() {
		checks = append(checks, cl.Checks...)
	}
	return checks
}

// FindClause returns the clause with that ID.
func FindClause(id string) (Clause, bool) {
	return find(clauses(), func(cl Clause) bool { return cl.ID == id })
}

func find[T any](list []T, is func(T) bool) (T, bool) {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return list[i], true
	}
	var zero T
	return zero, false
}

// checksOf returns the check that check returns for each element of list.
func checksOf[T any](list []T, check func(T) Check) []Check {
	var checks []Check
	for _, v := range list {
		checks = append(checks, check(v))
	}
	return checks
}

// duplicate returns the index of the first element whose key an earlier one has,
// or -1.
func duplicate[T any, K comparable](list []T, key func(T) K) int {
	seen := make(map[K]bool)
	return slices.IndexFunc(list, func(v T) bool {
		k := key(v)
		again := seen[k]
		seen[k] = true
		return again
	})
}
