package conformance

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Target is what is judged.
type Target struct {
	// URL is the base address that /pets stands under, such as
	// http://127.0.0.1:8080/v1. Required.
	URL string

	// MessagesURL is the base address that /messages stands under. Empty:
	// the message checks are skipped.
	MessagesURL string

	// Key is an API key that the target takes for valid. Required.
	Key string
}

// Options says how to judge. The zero value judges everything that the
// target allows, and so does a nil pointer.
type Options struct {
	// Run and Skip select checks by globs over their ids, in which * stands
	// for any text, dots too. A check runs if Run is empty or a glob of Run
	// matches it, and no glob of Skip does. A glob that matches no check at
	// all is an error.
	Run, Skip []string

	// ReadOnly sends nothing but GET. Checks that need more are skipped.
	ReadOnly bool

	// Pet is the id of a pet that the target holds, for the checks that
	// fetch one in a read-only run. Nil: one from the target's own list.
	Pet *int64

	// Category is a category id that the target accepts. Nil: the suite
	// tries an arbitrary one, then those of pets already there, then 1.
	Category *int64

	// Level is the lowest level whose violation makes a target not
	// conformant. Zero: [Required]; with [Recommended] warnings count too.
	Level Level

	// Strict makes a run with an inconclusive check incomplete.
	Strict bool

	// Known lists checks that are expected to fail, each with its reason.
	// They do not count against the target; one that passes fails the run,
	// so that the list cannot go stale.
	Known []Known

	// Seed determines the generated cases. Zero: one is picked, and reported.
	Seed uint64

	// Parallel is how many checks run at once. Zero: 8. The checks about
	// concurrency bring their own.
	Parallel int

	// Timeout bounds each request, its answer included. Zero: 10 seconds.
	Timeout time.Duration

	// Now is the clock that the deprecation checks go by. Nil: [time.Now].
	Now func() time.Time

	// Transport sends the requests. Nil: one made for the run, which follows
	// the environment's proxy settings.
	Transport http.RoundTripper

	// Done is called as each check ends, one call at a time. Nil: not called.
	Done func(Result)
}

// Known is a check that is known to fail.
type Known struct {
	ID     string
	Reason string // why it fails; required
}

// ErrOptions is in the tree of every error that says that the caller's
// arguments are at fault rather than the target.
var ErrOptions = errors.New("wrong use")

func optionsError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrOptions, fmt.Sprintf(format, args...))
}

const (
	defaultParallel = 8
	defaultTimeout  = 10 * time.Second
)

// withDefaults returns a copy of o with its zero fields filled in, or an
// error for fields that make no sense.
func (o *Options) withDefaults() (Options, error) {
	var r Options
	if o != nil {
		r = *o
	}
	if r.Level == "" {
		r.Level = Required
	}
	if r.Parallel == 0 {
		r.Parallel = defaultParallel
	}
	if r.Timeout == 0 {
		r.Timeout = defaultTimeout
	}
	if r.Now == nil {
		r.Now = time.Now
	}
	for r.Seed == 0 {
		r.Seed = pickSeed()
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

// clean returns t with its addresses checked and without their trailing
// slashes.
func (t Target) clean() (Target, error) {
	var err error
	if t.URL, err = cleanBase("URL", t.URL); err != nil {
		return t, err
	}
	if t.MessagesURL != "" {
		if t.MessagesURL, err = cleanBase("messages URL", t.MessagesURL); err != nil {
			return t, err
		}
	}
	switch {
	case t.Key == "":
		return t, optionsError("no API key: every operation of the contract requires one")
	case strings.ContainsFunc(t.Key, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return t, optionsError("the API key holds white space or characters outside ASCII: it cannot be sent as a bearer token")
	}
	return t, nil
}

func cleanBase(what, base string) (string, error) {
	if base == "" {
		return "", optionsError("no %s: give the base address that the paths stand under, such as http://127.0.0.1:8080/v1", what)
	}
	if !strings.Contains(base, "://") {
		hint := "" // nothing that may be secret is repeated
		if !strings.ContainsAny(base, "@?#") {
			hint = fmt.Sprintf(", as in http://%s", strings.TrimLeft(base, "/"))
		}
		return "", optionsError("%s: must start with http:// or https://%s", what, hint)
	}
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return "", optionsError("%s: not an address", what) // err would repeat what may be secret
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "", optionsError("%s: must start with http:// or https:// and name a host", what)
	case u.User != nil:
		return "", optionsError("%s: must not hold a user name or password", what)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", optionsError("%s: must not hold a query or fragment", what)
	}
	return strings.TrimRight(base, "/"), nil
}
