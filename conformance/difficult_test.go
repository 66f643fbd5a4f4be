package conformance_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"example.com/animalstore/conformance"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/petstoretest"
)

// The server of petstoretest is conformant with each difficulty alone, and with all
// difficulties that go together.
func TestDifficult(t *testing.T) {
	t.Parallel()
	srv := petstoretest.New(t, &petstoretest.Options{Difficult: &petstoretest.Difficulty{}})
	difficulties := map[string][]string{"all": nil}
	for name := range srv.Summary().Met {
		difficulties[name] = []string{name}
	}
	for name, names := range difficulties {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := runSuiteOn(t, names); err != nil {
				t.Error(err)
			}
		})
	}
}

// runSuiteOn runs the suite against a server with these difficulties.
func runSuiteOn(t *testing.T, names []string) error {
	srv, err := petstoretest.Start(&petstoretest.Options{Difficult: &petstoretest.Difficulty{Seed: 1, Names: names}}) // not New, which would report the suite's deliberate mistakes
	if err != nil {
		return err
	}
	defer srv.Close()
	target := conformance.Target{URL: srv.URL, MessagesURL: srv.URL, Key: srv.Key}
	r, err := conformance.Run(t.Context(), target, &conformance.Options{Timeout: 3 * time.Minute})
	if err != nil {
		return err
	}
	if r.Outcome == conformance.NotJudged || slices.ContainsFunc(r.Results, func(result conformance.Result) bool { // a server that drops connections and cuts responses short is not conformant
		return result.ID != "http.response" && result.Verdict == conformance.Fail
	}) {
		return fmt.Errorf("%s\n%s", r.Headline(), text(r))
	}
	for _, err := range srv.Client.All(t.Context(), petstore.ListQuery{Limit: 10}) { // the suite follows no Link
		if err != nil {
			return err
		}
	}
	if slices.Contains(slices.Collect(maps.Values(srv.Summary().Met)), 0) {
		return fmt.Errorf("the suite did not meet the difficulty: %+v", srv.Summary())
	}
	return nil
}
