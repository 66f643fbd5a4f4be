// Package conformancetest runs each check of package conformance as a subtest of
// go test, for implementations of the petstore contract in Go:
//
//	func TestConformance(t *testing.T) {
//		conformancetest.RunHandler(t, newHandler, conformance.Target{URL: "/v1", Key: key}, nil)
//	}
//
// The name of a subtest is the ID of its check, for go test -run and -skip:
//
//	go test -run 'TestConformance/pets.list' -skip 'TestConformance/.*limit'
package conformancetest

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"example.com/animalstore/conformance"
)

// Run judges target with every check that opts selects. The subtest of a check
// fails if the check counts against the target or ended with an error. It logs a
// warning that does not count, and is skipped if the check is inconclusive or
// known to fail. The checks run one after the other; opts.Parallel is ignored.
//
// Run fails t at once if the target cannot be judged.
func Run(t *testing.T, target conformance.Target, opts *conformance.Options) {
	t.Helper()
	s, err := conformance.Open(t.Context(), target, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, c := range s.Checks() {
		t.Run(c.ID, func(t *testing.T) {
			if why := s.Skipped(c.ID); why != "" {
				t.Skip(why)
			}
			result := s.Run(t.Context(), c.ID)
			report(t, result, opts)
			if opts != nil && opts.Done != nil {
				opts.Done(result)
			}
		})
	}
	r := s.Report()
	t.Logf("seed %d; left behind: %d pets and %d messages, named %s", r.Seed, len(r.Left.Pets), r.Left.Messages, r.Left.Mark)
}

// RunHandler serves the handler that newHandler returns on loopback and judges it
// as [Run] does. The URLs of target are paths, such as /v1, or empty for the root.
// If MessagesURL is empty, the checks of messages are skipped.
func RunHandler(t *testing.T, newHandler func(*testing.T) http.Handler, target conformance.Target, opts *conformance.Options) {
	t.Helper()
	srv := httptest.NewServer(newHandler(t))
	defer srv.Close()
	target.URL = srv.URL + target.URL
	if target.MessagesURL != "" {
		target.MessagesURL = srv.URL + target.MessagesURL
	}
	Run(t, target, opts)
}

// report sets the outcome of a subtest.
func report(t *testing.T, result conformance.Result, opts *conformance.Options) {
	t.Helper()
	var o conformance.Options
	if opts != nil {
		o = *opts
	}
	for _, seen := range result.Observations {
		t.Logf("%s: %s", seen.What, seen.Got)
	}
	switch {
	case result.Stale:
		t.Errorf("the check passes, and is on the list of known failures: %s", result.Known)
	case result.CountsAgainst(o.Level):
		t.Error(result.Details())
	case result.Verdict == conformance.Fail, result.Verdict == conformance.Warn && result.Known != "":
		t.Skipf("known failure (%s): %s", result.Known, result.Message)
	case result.Verdict == conformance.Warn:
		t.Logf("warning: %s", result.Details())
	case result.Verdict == conformance.Errored:
		t.Errorf("the check could not be run: %s", result.Message)
	case result.Verdict == conformance.Inconclusive && o.Strict:
		t.Errorf("inconclusive: %s", result.Message)
	case result.Verdict == conformance.Inconclusive:
		t.Skipf("inconclusive: %s", result.Message)
	}
}
