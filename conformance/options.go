package conformance

import (
	"bufio"
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Options says how to judge a target. The zero value and a nil pointer run every
// check.
type Options struct {
	// Run and Skip select checks by globs for their IDs, as in [path.Match]: *
	// matches any text. A check runs if Run is empty or one of its globs
	// matches, and no glob of Skip matches. A glob that matches no check is an
	// error.
	Run, Skip []string

	// Sections selects checks by the section of their clause, such as 4.1, 4 (with
	// every section under it) or RFC 9110. Empty: all. A check must be selected by
	// Run too. A section without checks is an error.
	Sections []string

	// ReadOnly sends only GET requests. Checks that need others are skipped.
	ReadOnly bool

	// Pet is the id of a pet that the target has, for the checks of a
	// read-only run that get a pet. Nil: one from the target's list.
	Pet *int64

	// Category is a category that the target accepts. Nil: the suite tries an
	// arbitrary one, then those of the target's pets, then 1.
	Category *int64

	// Level is the lowest level whose violations make a target not conformant.
	// Empty: [Required]. With [Recommended], warnings count too.
	Level Level

	// Strict makes a run with an inconclusive check incomplete.
	Strict bool

	// Known lists the checks that are expected to fail. They do not count
	// against the target. One that passes fails the run, so that the list stays
	// up to date.
	Known []Known

	// Seed determines the generated bodies. Zero: a random one, which the report
	// has.
	Seed uint64

	// Parallel is how many checks run at the same time. Zero: 8. A check of
	// concurrency sends more requests than that.
	Parallel int

	// Timeout limits each request, reading the response included. Zero: 10 seconds.
	Timeout time.Duration

	// Rate is the largest number of requests to send in a second. Zero: no limit.
	Rate float64

	// Header is added to every request. Reports do not show its values. It cannot
	// have Authorization or another field that the suite sets.
	Header http.Header

	// TLS verifies an https target. Nil: with the certificates of the system.
	// Ignored if there is a Transport.
	TLS *tls.Config

	// Now is the clock of the deprecation checks. Nil: [time.Now].
	Now func() time.Time

	// Transport sends the requests. Nil: a new one, which follows the proxy
	// settings of the environment.
	Transport http.RoundTripper

	// Done is called when a check ends, one call at a time. Nil: not called.
	Done func(Result)
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
	r.Parallel = cmp.Or(r.Parallel, 8)
	r.Timeout = cmp.Or(r.Timeout, 10*time.Second)
	if r.Now == nil {
		r.Now = time.Now
	}
	for r.Seed == 0 {
		r.Seed = uint64(rand.Uint32()) // short enough to type
	}
	switch {
	case r.Level != Required && r.Level != Recommended:
		return r, optionsError("level %q: must be required or recommended", r.Level)
	case r.Parallel < 0:
		return r, optionsError("parallel %d: must not be negative", r.Parallel)
	case r.Timeout < 0:
		return r, optionsError("timeout %v: must not be negative", r.Timeout)
	case r.Rate < 0 || math.IsNaN(r.Rate):
		return r, optionsError("rate %v: must not be negative", r.Rate)
	}
	return r, checkHeader(r.Header)
}

// checkHeader returns an error if h has a field that the suite sets itself, or one
// that cannot be sent.
func checkHeader(h http.Header) error {
	own := []string{"Authorization", "Accept", "Accept-Encoding", "Connection", "Content-Length", "Content-Type", "Expect", "Transfer-Encoding"}
	for name, values := range h {
		switch {
		case slices.Contains(own, http.CanonicalHeaderKey(name)):
			return optionsError("header %s: the suite sets it", name)
		case name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) }):
			return optionsError("header %q: not the name of a header field", name)
		case strings.ContainsFunc(strings.Join(values, ""), unicode.IsControl):
			return optionsError("header %s: the value must not have control characters", name)
		}
	}
	return nil
}

// interval returns the time between two requests.
func (o Options) interval() time.Duration {
	if o.Rate == 0 {
		return 0
	}
	return time.Duration(float64(time.Second) / o.Rate)
}

// Select returns the checks that Run, Skip and Sections of [Options] select. A
// glob that matches no check, and a section without checks, is an error with
// [ErrOptions] in its tree.
func Select(run, skip, sections []string) ([]Check, error) {
	checks := Checks()
	matches := func(globs []string, c Check) bool {
		return slices.ContainsFunc(globs, func(glob string) bool { ok, _ := path.Match(glob, c.ID); return ok })
	}
	for _, glob := range slices.Concat(run, skip) {
		if !slices.ContainsFunc(checks, func(c Check) bool { return matches([]string{glob}, c) }) {
			return nil, optionsError("%q matches no check; * stands for any text, as in pets.list.*", glob)
		}
	}
	in := make(map[string]bool) // the IDs of the clauses in these sections
	for _, section := range sections {
		clauses := slices.DeleteFunc(Clauses(), func(cl Clause) bool { return len(cl.Checks) == 0 || !cl.in(section) })
		if len(clauses) == 0 {
			return nil, optionsError("section %q has no checks; the sections that have some are %s", section, strings.Join(sectionsWithChecks(), ", "))
		}
		for _, cl := range clauses {
			in[cl.ID] = true
		}
	}
	return slices.DeleteFunc(checks, func(c Check) bool {
		return len(run) > 0 && !matches(run, c) || matches(skip, c) || len(sections) > 0 && !in[c.Clause]
	}), nil
}

// sections returns the sections of cl: those of the contract, or one of an RFC, by
// the name of the RFC alone.
func (cl Clause) sections() []string {
	if strings.HasPrefix(cl.Section, "RFC") {
		rfc, _, _ := strings.Cut(cl.Section, ",")
		return []string{rfc}
	}
	return strings.Split(cl.Section, ", ")
}

// in reports whether cl is in a section, or in one under it.
func (cl Clause) in(section string) bool {
	return slices.ContainsFunc(cl.sections(), func(s string) bool {
		return s == section || strings.HasPrefix(s, section+".")
	})
}

func sectionsWithChecks() []string {
	var all []string
	for _, cl := range Clauses() {
		if len(cl.Checks) > 0 {
			all = append(all, cl.sections()...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// knownFailures returns the reasons by ID.
func knownFailures(list []Known, checks []Check) (map[string]string, error) {
	known := make(map[string]string)
	for _, k := range list {
		switch {
		case !slices.ContainsFunc(checks, func(c Check) bool { return c.ID == k.ID }):
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
