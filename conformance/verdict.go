package conformance

import (
	"fmt"
	"net/http"

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

// ending is why a check ended early. A check ends as a test does that calls
// Fatalf: [fail], [inconclusive] and [unavailable] do not return. They panic with
// an ending, which [attempt] recovers.
type ending struct {
	verdict Verdict         // Fail, Inconclusive or Errored
	proof   *probe.Exchange // shows what the message says; nil: none does
	message string
	flaw    flaw   // of a violation
	shown   *int64 // the id of a pet in a list that the message shows; nil: none

	// because has exchanges that may be why the check is inconclusive: one of them
	// may violate what another check tests.
	because []*probe.Exchange
}

func (e *ending) Error() string { return e.message }

// end ends the check with e, unless e is nil.
func (e *ending) end() {
	if e != nil {
		panic(e)
	}
}

// fail ends the check: in x, the target did something wrong. Failures with the same
// format are of the same kind, unless an argument is a flaw. If x has the status 503
// and a Retry-After, the check ends with an error instead: any request may get those.
func fail(x *probe.Exchange, format string, args ...any) {
	e := &ending{verdict: Fail, proof: x, message: fmt.Sprintf(format, args...), flaw: flaw{Violation: Violation{Kind: format}}}
	for _, arg := range args {
		switch arg := arg.(type) {
		case flaw:
			e.flaw = arg
		case shown:
			e.shown = arg.id
		}
	}
	if x != nil && x.Status == http.StatusServiceUnavailable && x.Header.Get("Retry-After") != "" {
		e.verdict = Errored
	}
	panic(e)
}

// failStatus ends the check: x does not have the status that it should have. what
// describes the request.
func failStatus(x *probe.Exchange, what, want string) {
	text := x.StatusLine() + ", want " + want
	fail(x, "%s: the response is %s", what, flaw{Violation: Violation{Kind: what + ": " + text, Request: what}, want: want, text: text})
}

// with returns e with another message. Other checks may share e.
func (e *ending) with(format string, args ...any) *ending {
	changed := *e
	changed.message = fmt.Sprintf(format, args...)
	return &changed
}

// inconclusive ends the check: it cannot tell.
func inconclusive(format string, args ...any) {
	panic(&ending{verdict: Inconclusive, message: fmt.Sprintf(format, args...)})
}

// unavailable ends the check: the target did not serve the request of x.
func unavailable(x *probe.Exchange, format string, args ...any) {
	panic(&ending{verdict: Errored, proof: x, message: fmt.Sprintf(format, args...)})
}

// attempt calls f and returns how it ended the check, or nil if it returned.
func attempt(f func()) (e *ending) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *ending:
			e = r
		default:
			panic(r)
		}
	}()
	f()
	return nil
}

// assume calls f for a check that needs what f does and does not test it. If f
// finds a violation, another check reports it, and this one is inconclusive.
func assume(otherwise string, f func()) {
	e := attempt(f)
	if e != nil && e.verdict == Fail {
		e = &ending{verdict: Inconclusive, message: otherwise + ": " + e.message, because: []*probe.Exchange{e.proof}}
	}
	e.end()
}

// need is [assume] for an f that has a result.
func need[T any](otherwise string, f func() T) (result T) {
	assume(otherwise, func() { result = f() })
	return result
}
