// Package conformancetest makes each check of package conformance a subtest of go
// test, for implementations of the petstore contract in Go:
//
//	func TestConformance(t *testing.T) {
//		conformancetest.RunHandler(t, handler, conformance.Target{URL: "/v1", Key: key}, nil)
//	}
//
// The name of a subtest is the ID of its check, for go test -run and -skip:
//
//	go test -run 'TestConformance/pets.list' -skip 'TestConformance/.*limit'
//
// A whole test is in examples/suite.
package conformancetest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/report"
)

// Run judges target as [conformance.Run] does. The subtest of a check fails if the
// check counts against the target or ended with an error. It logs a warning that
// does not count, and is skipped if the check was skipped, is inconclusive or is
// known to fail. The run is over before the first subtest: the flags -run and -skip of
// go test select only subtests.
//
// A failed subtest logs what is wrong and the exchange that shows it. At the end t logs
// the report of the run.
//
// Run fails t at once if the target cannot be judged.
func Run(t *testing.T, target conformance.Target, opts *conformance.Options) {
	t.Helper()
	r, err := conformance.Run(t.Context(), target, opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range r.Results {
		t.Run(result.ID, func(t *testing.T) { subtest(t, result, r.Level) })
	}
	var text strings.Builder
	if err := report.Text(&text, r, false); err != nil {
		t.Error(err)
	}
	t.Logf("all checks:\n%s", &text)
}

// RunHandler serves handler on loopback and judges it as [Run] does. The URLs of target
// are paths, such as /v1, or empty for the root. The server is gone after the test: to
// repeat a curl command, serve the handler again.
func RunHandler(t *testing.T, handler http.Handler, target conformance.Target, opts *conformance.Options) {
	t.Helper()
	srv := httptest.NewServer(handler)
	defer srv.Close()
	target.URL = srv.URL + target.URL
	if target.MessagesURL != "" {
		target.MessagesURL = srv.URL + target.MessagesURL
	}
	Run(t, target, opts)
}

// subtest sets the outcome of a subtest.
func subtest(t *testing.T, result conformance.Result, level conformance.Level) {
	t.Helper()
	switch {
	case result.Stale:
		t.Errorf("the check passes, and is on the list of known failures: %s", result.Known)
	case result.CountsAgainst(level):
		t.Error(result.Details())
	case result.Verdict == conformance.Errored:
		t.Errorf("the check could not be run: %s", result.Message)
	case result.Known != "" && result.Violations > 0:
		t.Skipf("known failure (%s): %s", result.Known, result.Message)
	case result.Verdict == conformance.Warn:
		t.Logf("warning: %s", result.Details())
	case result.Verdict != conformance.Pass:
		t.Skipf("%s: %s", result.Verdict, result.Message)
	}
}
