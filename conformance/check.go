package conformance

import "slices"

// Level says where a requirement comes from, and so what a violation means.
type Level string

const (
	// Required: the contract states it. A violation is a failure.
	Required Level = "required"

	// Recommended: an RFC states it and the contract does not, or the contract can
	// be read in another way. A violation is a warning.
	Recommended Level = "recommended"
)

// Check is one thing that a target must do.
type Check struct {
	// ID names the check, as in pets.list.limit.above. It never changes, and no
	// other check ever gets it.
	ID    string `json:"id"`
	Level Level  `json:"level"`

	// Section names the sections of the contract or of an RFC that state it.
	Section string `json:"section"`

	// Title says what the target must do.
	Title string `json:"title"`
}

// Checks returns every check.
func Checks() []Check {
	return slices.Concat(responseChecks, createChecks, getChecks, listChecks, messageChecks, errorChecks, keyChecks)
}
