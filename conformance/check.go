package conformance

import (
	"cmp"
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

// Check is one thing that a target must do. A run judges every exchange to which the
// check applies.
type Check struct {
	// ID names the check, as in pets.list.limit.above. It never changes, and no
	// other check ever gets it.
	ID string `json:"id"`

	// Section names the sections of the contract or of an RFC that state it.
	Section string `json:"section"`

	// Title says what the target must do.
	Title string `json:"title"`

	// Why says what goes wrong for the clients of a target that does not.
	Why string `json:"why"`

	Level Level `json:"level"`

	// applies selects the exchanges that the check judges. If there are none, the
	// check is skipped. With ofUnserved, the check judges requests that were not served, too.
	applies    func(*exchange) bool
	ofUnserved bool

	// wrong says what is wrong with an exchange; "": nothing. wrongAfter also returns an
	// exchange that must precede it to show that, such as the one that added the pet (nil:
	// none, or unknown). A check has one of the two.
	wrong      func(*exchange) string
	wrongAfter func(*exchange) (before *exchange, wrong string)

	// kind says what is particular about an exchange that violates the check; "": nothing.
	// If it is not set, exchange.kind does.
	kind func(*exchange) string
}

// dependsOnStore reports whether the check may be wrong if another client adds pets.
func (c Check) dependsOnStore() bool {
	return slices.Contains([]string{"pets.create.once", "pets.create.refused", "pets.get.missing", "pets.list.created"}, c.ID)
}

// Why checks matter, where several have the same reason.
const (
	keptExactly = "A client must get back what it stored."
	mistake     = "A client must learn that its request is wrong, or something is added that it did not mean."
	noAccess    = "Without a valid key there is no access."
	sameErrors  = "Clients read every error in the same way."
	pageSize    = "Clients choose the size of their pages by it."
	warnsUsers  = "Tools warn clients that still use the operation."
	typed       = "Typed clients fail on the first value of another type."
	byMediaType = "Clients read a body by its media type, or refuse it."
	findsPets   = "No client can find a pet that the list loses or changes."
	mayFail     = "A 5xx tells the client that the server failed and to try again."
)

// Checks returns every check.
func Checks() []Check {
	all := slices.Concat(responseChecks(), createChecks(), getChecks(), listChecks(), messageChecks(),
		errorChecks(), keyChecks())
	for i := range all {
		all[i].Level = cmp.Or(all[i].Level, Required)
		if all[i].kind == nil {
			all[i].kind = (*exchange).kind
		}
	}
	return all
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
