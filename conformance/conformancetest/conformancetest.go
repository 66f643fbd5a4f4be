// Package conformancetest makes each check of package conformance a subtest of go
// test, for implementations of the petstore contract in Go:
//
//	func TestConformance(t *testing.T) {
//		conformancetest.RunHandler(t, handler, "/v1", key, nil)
//	}
//
// The name of a subtest is the ID of its check, for go test -run and -skip:
//
//	go test -run 'TestConformance/pets.list' -skip 'TestConformance/.*limit'
//
// The store of the handler must be new for each run: the suite adds more than a hundred
// pets and messages, and the contract has no way to remove them.
package conformancetest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/animalstore/conformance"
)

// Run judges target as [conformance.Run] does. A subtest fails if its check fails, logs
// the warning if it has one, and is skipped if the check was skipped. The run is over
// before the first subtest: the flags -run and -skip of go test select only subtests.
//
// A failed subtest logs what is wrong and the exchange that shows it. At the end t logs
// the conclusion and the counts.
//
// Run fails t, too, if the target cannot be judged. A run that leaves checks out passes.
func Run(t *testing.T, target conformance.Target, opts *conformance.Options) {
	t.Helper()
	r, err := conformance.Run(t.Context(), target, opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range r.Results {
		t.Run(result.ID, func(t *testing.T) {
			t.Helper()
			switch result.Verdict {
			case conformance.Fail:
				t.Error(result.Details())
			case conformance.Warn:
				t.Logf("warning: %s", result.Details())
			case conformance.Skip:
				t.Skip(result.Message)
			}
		})
	}
	t.Log(r.Headline())
	if r.Conclusion == conformance.NotJudged {
		t.Errorf("not judged: %s", r.Reason)
	}
}

// RunHandler serves handler on loopback and judges it as [Run] does. base is the path of
// its base address, such as "/v1", or "" for the root, and key an API key that is valid.
// The messages must be below base, too. If they have another base address, or there are
// none, serve the handler and call [Run] with a Target that has MessagesURL or PetsOnly. The
// server is gone after the test: to repeat a curl command, serve the handler again, and set
// PETSTORE_API_KEY.
func RunHandler(t *testing.T, handler http.Handler, base, key string, opts *conformance.Options) {
	t.Helper()
	srv := httptest.NewServer(handler)
	defer srv.Close()
	Run(t, conformance.Target{URL: srv.URL + "/" + strings.TrimPrefix(base, "/"), Key: key}, opts)
}
