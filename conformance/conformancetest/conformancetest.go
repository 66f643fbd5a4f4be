// Package conformancetest runs the checks of package conformance as subtests
// of go test, one for each, so that a Go implementation of the petstore
// contract is judged by its own tests:
//
//	func TestConformance(t *testing.T) {
//		conformancetest.RunHandler(t, newHandler, conformance.Target{URL: "/v1", Key: key}, nil)
//	}
//
// A subtest is named by its check's id: go test -run and -skip choose among
// them, as in
//
//	go test -run 'TestConformance/pets.list' -skip 'TestConformance/.*limit'
package conformancetest

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"example.com/animalstore/conformance"
)

// Run judges target with every check that opts selects, nil for all, and
// fails a subtest for each that speaks against it. A warning is logged, or
// fails where opts.Level says so; what is inconclusive or known to fail is
// skipped, with its reason. opts.Parallel is not used: the checks run one
// after the other.
//
// It fails t at once if the target cannot be judged.
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
			result := s.Judge(t.Context(), c.ID)
			report(t, result, opts)
			if opts != nil && opts.Done != nil {
				opts.Done(result)
			}
		})
	}
	r := s.Report()
	t.Logf("seed %d; left behind: %d pets and %d messages, named %s", r.Seed, len(r.Left.Pets), r.Left.Messages, r.Left.Mark)
}

// RunHandler serves the handler that newHandler returns on loopback and
// judges it as [Run] does. The addresses of target are paths, such as /v1, or
// empty for the root; an empty MessagesURL means that there are no messages.
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

// report gives a subtest the outcome that result means.
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
		t.Errorf("it passes, and is on the list of known failures: %s", result.Known)
	case result.Against(o.Level):
		t.Error(result.Details())
	case result.Verdict == conformance.Fail, result.Verdict == conformance.Warn && result.Known != "":
		t.Skipf("known failure (%s): %s", result.Known, result.Message)
	case result.Verdict == conformance.Warn:
		t.Logf("warning: %s", result.Details())
	case result.Verdict == conformance.Errored:
		t.Errorf("it could not be judged: %s", result.Message)
	case result.Verdict == conformance.Inconclusive && o.Strict:
		t.Errorf("inconclusive: %s", result.Message)
	case result.Verdict == conformance.Inconclusive:
		t.Skipf("inconclusive: %s", result.Message)
	}
}
