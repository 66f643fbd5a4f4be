package conformance

import "slices"

// Level says where a check's demand comes from, and so what a violation means.
type Level string

const (
	// Required: the contract states it. A violation is a failure.
	Required Level = "required"

	// Recommended: HTTP or an RFC asks for it and the contract does not. A
	// violation is a warning.
	Recommended Level = "recommended"

	// Observed: the contract leaves it open. The suite records what the
	// target does and judges nothing.
	Observed Level = "observed"
)

// Feature is the part of the contract that a check belongs to.
type Feature string

// The features. A check of [FeatureMessages] runs only against a target with
// a MessagesURL.
const (
	FeaturePets        Feature = "pets"
	FeatureDeprecation Feature = "deprecation"
	FeatureMessages    Feature = "messages"
)

// Check is one thing that is looked at.
type Check struct {
	// ID names the check, as in pets.list.limit.max. It is stable: it is
	// never given to another check.
	ID string `json:"id"`

	// Title says what a target that passes does.
	Title string `json:"title"`

	// Clause is the ID of the [Clause] that the check rests on.
	Clause string `json:"clause"`

	Level   Level   `json:"level"`
	Feature Feature `json:"feature"`

	// Writes says that the check cannot do with GET alone, and so does not run
	// in a read-only run. Others create what they need where
	// they may, and make do with what is there where they may not.
	Writes bool `json:"writes"`

	// Why says what goes wrong for clients of a target that fails, and
	// Failure what such a target does.
	Why     string `json:"why"`
	Failure string `json:"failure"`

	stage stage
	run   func(*probe) error
}

// stage orders checks within a run: those of a stage run at the same time,
// after all of the stages before.
type stage int

const (
	// stageFew comes while the run has created little, so that on a target
	// that started empty a list still shows everything.
	stageFew stage = iota
	// stageMany comes once there may be more pets than a list can show.
	stageMany
)

// Checks returns every check, in the order in which they are reported.
func Checks() []Check {
	return slices.Concat(
		listChecks(),
		limitChecks(),
		filterChecks(),
		listOpenChecks(),
		createChecks(),
		nameChecks(),
		categoryChecks(),
		faultChecks(),
		createOpenChecks(),
		getChecks(),
		authChecks(),
		errorChecks(),
		generatedChecks(),
		httpChecks(),
		deprecationChecks(),
		messageChecks(),
		messageFaultChecks(),
		messageAuthChecks(),
	)
}

// inOrder returns checks in the order in which they should run.
func inOrder(checks []Check) []Check {
	checks = slices.Clone(checks)
	slices.SortStableFunc(checks, func(a, b Check) int { return int(a.stage - b.stage) })
	return checks
}

// FindCheck returns the check with that id.
func FindCheck(id string) (Check, bool) {
	checks := Checks()
	i := slices.IndexFunc(checks, func(c Check) bool { return c.ID == id })
	if i < 0 {
		return Check{}, false
	}
	return checks[i], true
}
