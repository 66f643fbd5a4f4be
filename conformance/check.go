package conformance

import (
	"fmt"
	"path"
	"slices"
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

// selected returns the IDs of the checks that o selects. A glob that matches no check is an
// error.
func (o *Options) selected() (map[string]bool, error) {
	matches := func(id string) func(string) bool {
		return func(glob string) bool { ok, _ := path.Match(glob, id); return ok }
	}
	for _, glob := range slices.Concat(o.Select, o.Skip) {
		if !slices.ContainsFunc(Checks(), func(c Check) bool { return matches(c.ID)(glob) }) {
			return nil, fmt.Errorf("%q matches no check; * stands for any text, as in pets.list.*", glob)
		}
	}
	ids := make(map[string]bool)
	for _, c := range Checks() {
		selected := len(o.Select) == 0 || slices.ContainsFunc(o.Select, matches(c.ID))
		ids[c.ID] = selected && !slices.ContainsFunc(o.Skip, matches(c.ID))
	}
	return ids, nil
}
