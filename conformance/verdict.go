package conformance

import (
	"errors"
	"fmt"

	"example.com/animalstore/conformance/internal/probe"
)

// Verdict is the outcome of one check.
type Verdict string

const (
	Pass Verdict = "pass"
	Fail Verdict = "fail" // a required check found a violation
	Warn Verdict = "warn" // a recommended check found a violation
	Skip Verdict = "skip" // the check was not to run

	// Inconclusive: in the state that the target is in, the check cannot tell.
	Inconclusive Verdict = "inconclusive"

	// Errored: the target did not respond, or did not serve the request.
	Errored Verdict = "error"
)

// A check returns one of the following errors, or nil for a pass.

// violation says what the target did wrong, and in which exchange.
type violation struct {
	x   *probe.Exchange // nil: in none that was recorded
	msg string
}

func (v *violation) Error() string { return v.msg }

func violationf(x *probe.Exchange, format string, args ...any) error {
	return &violation{x, fmt.Sprintf(format, args...)}
}

// undecided says why the check cannot tell.
type undecided struct{ msg string }

func (u *undecided) Error() string { return u.msg }

func undecidedf(format string, args ...any) error {
	return &undecided{fmt.Sprintf(format, args...)}
}

// unavailable says why the target did not serve a request.
type unavailable struct {
	x   *probe.Exchange
	msg string
}

func (u *unavailable) Error() string { return u.msg }

func unavailablef(x *probe.Exchange, format string, args ...any) error {
	return &unavailable{x, fmt.Sprintf(format, args...)}
}

// verdictOf returns the verdict of a check of that level that returned err, and
// the exchange that proves it, if there is one.
func verdictOf(level Level, err error) (Verdict, *probe.Exchange) {
	var (
		v *violation
		u *undecided
		a *unavailable
	)
	switch {
	case err == nil:
		return Pass, nil
	case errors.As(err, &v) && level == Required:
		return Fail, v.x
	case errors.As(err, &v) && level == Recommended:
		return Warn, v.x
	case errors.As(err, &v): // what is observed is not judged
		return Pass, v.x
	case errors.As(err, &u):
		return Inconclusive, nil
	case errors.As(err, &a):
		return Errored, a.x
	}
	return Errored, nil
}

// asUndecided makes a violation undecided, for a check that tests something
// else: another check reports that violation.
func asUndecided(err error, what string) error {
	var v *violation
	if errors.As(err, &v) {
		return undecidedf("%s: %s", what, v.msg)
	}
	return err
}
