package conformance

import (
	"errors"
	"fmt"
)

// Verdict is the outcome of one check.
type Verdict string

const (
	Pass Verdict = "pass"
	Fail Verdict = "fail" // a required check found the target at fault
	Warn Verdict = "warn" // a recommended check did
	Skip Verdict = "skip" // excluded by request

	// Inconclusive: the target's state did not allow a judgement.
	Inconclusive Verdict = "inconclusive"

	// Errored: the target went away, or would not serve the request for now.
	Errored Verdict = "error"
)

// A check ends with one of these errors, or with nil for a pass.

// violation says that the target is at fault, and in which exchange.
type violation struct {
	x   *exchange // nil: in none that could be recorded
	msg string
}

func (v *violation) Error() string { return v.msg }

func violationf(x *exchange, format string, args ...any) error {
	return &violation{x, fmt.Sprintf(format, args...)}
}

// undecided says that the target's state does not allow a judgement.
type undecided struct{ msg string }

func (u *undecided) Error() string { return u.msg }

func undecidedf(format string, args ...any) error {
	return &undecided{fmt.Sprintf(format, args...)}
}

// unavailable says that the target could not be asked.
type unavailable struct {
	x   *exchange
	msg string
}

func (u *unavailable) Error() string { return u.msg }

func unavailablef(x *exchange, format string, args ...any) error {
	return &unavailable{x, fmt.Sprintf(format, args...)}
}

// verdictOf returns the verdict that err means for a check of that level, and
// the exchange that shows it, if there is one.
func verdictOf(level Level, err error) (Verdict, *exchange) {
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
	case errors.As(err, &v): // what is only observed is not judged
		return Pass, v.x
	case errors.As(err, &u):
		return Inconclusive, nil
	case errors.As(err, &a):
		return Errored, a.x
	}
	return Errored, nil
}

// asUndecided turns a violation found while preparing something for a check
// into an undecided outcome: another check owns that violation.
func asUndecided(err error, what string) error {
	var v *violation
	if errors.As(err, &v) {
		return undecidedf("%s: %s", what, v.msg)
	}
	return err
}
