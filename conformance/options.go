package conformance

import (
	"cmp"
	"fmt"
	"net/http"
	"time"
)

// Options says how to judge a target. The zero value and a nil pointer judge by every
// check.
type Options struct {
	// Select selects what is judged, not what is sent: all is sent, except the request of
	// pets.create.surrogate. It has globs for the IDs of checks, as in [path.Match]: *
	// matches any text. Empty: every check. A glob that matches no check is an error.
	Select []string

	// Skip leaves out the checks whose IDs match one of these globs, such as those of a
	// defect that is known. A glob that matches no check is an error.
	Skip []string

	// ReadOnly sends only GET requests. Checks that these do not show are skipped.
	ReadOnly bool

	// Category is a category that the target accepts. Nil: the run tries an
	// arbitrary one, then those of the target's pets, then 1.
	Category *int64

	// FailLevel is the lowest level of the checks whose violations make a target not
	// conformant. Empty: [Required]. With [Recommended], what were warnings are failures.
	FailLevel Level

	// Parallel is the largest number of requests at a time. Zero: 8. With more, a target
	// that is far away is judged sooner.
	Parallel int

	// Timeout limits each request, reading the response included. Zero: 10 seconds.
	Timeout time.Duration

	// Transport sends the requests. Nil: a new one, which follows the proxy
	// settings of the environment.
	Transport http.RoundTripper

	// For the tests of this package.
	now   func() time.Time // says whether GET /pets/{petId} may be removed
	until string           // the ID of a check: the run ends after the phase in which it fails
}

// withDefaults returns a copy of o with defaults for zero fields, or an error for
// invalid fields.
func (o *Options) withDefaults() (Options, error) {
	var r Options
	if o != nil {
		r = *o
	}
	r.FailLevel = cmp.Or(r.FailLevel, Required)
	r.Parallel = cmp.Or(r.Parallel, 8)
	r.Timeout = cmp.Or(r.Timeout, 10*time.Second)
	if r.now == nil {
		r.now = time.Now
	}
	switch {
	case r.FailLevel != Required && r.FailLevel != Recommended:
		return r, fmt.Errorf("level %q: must be required or recommended", r.FailLevel)
	case r.Parallel < 0:
		return r, fmt.Errorf("parallel %d: must not be negative", r.Parallel)
	case r.Timeout < 0:
		return r, fmt.Errorf("timeout %v: must not be negative", r.Timeout)
	}
	return r, nil
}
