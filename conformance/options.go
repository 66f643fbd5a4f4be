package conformance

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Options says how to judge a target. The zero value and a nil pointer judge by every
// check.
type Options struct {
	// Run selects checks by globs for their IDs, as in [path.Match]: * matches any
	// text. Empty: every check. A glob that matches no check is an error. It selects
	// what is judged, not what is sent.
	Run []string

	// ReadOnly sends only GET requests. Checks that these do not show are skipped.
	ReadOnly bool

	// Category is a category that the target accepts. Nil: the suite tries an
	// arbitrary one, then those of the target's pets, then 1.
	Category *int64

	// Level is the lowest level whose violations make a target not conformant.
	// Empty: [Required]. With [Recommended], warnings count too.
	Level Level

	// Known lists the checks that are expected to fail. They do not count
	// against the target. One that passes fails the run, so that the list stays
	// up to date.
	Known []Known

	// Parallel is the largest number of requests at a time. A run sends 4 at a time at
	// most, unless the target is far away. Zero: 16.
	Parallel int

	// Timeout limits each request, reading the response included. Zero: 10 seconds.
	Timeout time.Duration

	// Now is the clock that says whether GET /pets/{petId} may be removed. Nil:
	// [time.Now].
	Now func() time.Time

	// Transport sends the requests. Nil: a new one, which follows the proxy
	// settings of the environment.
	Transport http.RoundTripper
}

// Known is a check that is expected to fail.
type Known struct {
	ID     string
	Reason string // why it fails; required
}

// ErrOptions is wrapped by every error about the caller's arguments, as opposed
// to the target.
var ErrOptions = errors.New("invalid arguments")

func optionsError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrOptions, fmt.Sprintf(format, args...))
}

// withDefaults returns a copy of o with defaults for zero fields, or an error for
// invalid fields.
func (o *Options) withDefaults() (Options, error) {
	var r Options
	if o != nil {
		r = *o
	}
	r.Level = cmp.Or(r.Level, Required)
	r.Parallel = cmp.Or(r.Parallel, 16)
	r.Timeout = cmp.Or(r.Timeout, 10*time.Second)
	if r.Now == nil {
		r.Now = time.Now
	}
	switch {
	case r.Level != Required && r.Level != Recommended:
		return r, optionsError("level %q: must be required or recommended", r.Level)
	case r.Parallel < 0:
		return r, optionsError("parallel %d: must not be negative", r.Parallel)
	case r.Timeout < 0:
		return r, optionsError("timeout %v: must not be negative", r.Timeout)
	}
	return r, nil
}

// knownFailures returns the reasons by ID.
func knownFailures(list []Known) (map[string]string, error) {
	known := make(map[string]string)
	for _, k := range list {
		switch {
		case !slices.ContainsFunc(checks(), func(c Check) bool { return c.ID == k.ID }):
			return nil, optionsError("known failures: no check has the ID %q", k.ID)
		case strings.TrimSpace(k.Reason) == "":
			return nil, optionsError("known failures: %s has no reason", k.ID)
		case known[k.ID] != "":
			return nil, optionsError("known failures: %s is listed twice", k.ID)
		}
		known[k.ID] = k.Reason
	}
	return known, nil
}

// ReadKnown reads a list of known failures. Each line has the ID of a check,
// white space and the reason. Empty lines and lines that start with # are
// ignored.
func ReadKnown(r io.Reader) ([]Known, error) {
	var list []Known
	sc := bufio.NewScanner(r)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, reason, ok := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
		if !ok {
			return nil, fmt.Errorf("line %d: %s must have a reason after it", n, id)
		}
		list = append(list, Known{id, strings.TrimSpace(reason)})
	}
	return list, sc.Err()
}
