package conformance

import (
	"cmp"
	"fmt"
	"net/http"
	"time"
)

// Options says how to judge a target. The zero value judges by every check.
type Options struct {
	// Select has globs for the IDs of the checks, as in [path.Match]. Empty: every check. All is
	// sent, except the request of pets.create.surrogate. A glob that matches no check is an error.
	Select []string

	// Skip has globs for the IDs of checks that are left out, such as those of a known defect.
	Skip []string

	ReadOnly bool // only GET requests are sent

	// Category is one that the target accepts. Nil: the run tries an arbitrary one, then those of
	// the target's pets, then 1.
	Category *int64

	// FailLevel is the lowest level of the checks whose violations make a target not
	// conformant. Empty: [Required].
	FailLevel Level

	Parallel  int               // the largest number of requests at a time; 0: 8
	Timeout   time.Duration     // of each request, reading the response included; 0: 10 seconds
	Transport http.RoundTripper // nil: one that follows the proxy settings of the environment

	// For the tests of this package.
	now    func() time.Time // says whether GET /pets/{petId} may be removed
	record func(*exchange)  // is called with every exchange
	until  string           // the ID of a check: the run ends after the scenario in which it fails
}

// withDefaults returns o with defaults for zero fields, or an error for invalid ones.
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
	case r.Parallel < 0 || r.Timeout < 0:
		return r, fmt.Errorf("parallel %d, timeout %v: must not be negative", r.Parallel, r.Timeout)
	}
	return r, nil
}
