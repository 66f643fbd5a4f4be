package conformance_test

import (
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"example.com/animalstore/conformance"
	"example.com/animalstore/petstore/petstoretest"
)

// The server of petstoretest is conformant with each difficulty alone, and with all
// difficulties that go together.
func TestDifficult(t *testing.T) {
	t.Parallel()
	all, err := petstoretest.NewHandler(&petstoretest.Difficulty{})
	if err != nil {
		t.Fatal(err)
	}
	difficulties := map[string][]string{"all": nil}
	for name := range all.Summary().Met {
		difficulties[name] = []string{name}
	}
	for name, names := range difficulties {
		t.Run(name, func(t *testing.T) {
			if name == "busy" || name == "lost" || name == "all" {
				slow(t)
			}
			t.Parallel()
			if err := runSuiteOn(t, names); err != nil {
				t.Error(err)
			}
		})
	}
}

// runSuiteOn runs the suite against a server with these difficulties.
func runSuiteOn(t *testing.T, names []string) error {
	h, err := petstoretest.NewHandler(&petstoretest.Difficulty{Seed: 1, Names: names}) // not New, which would report the suite's deliberate mistakes
	if err != nil {
		return err
	}
	srv := httptest.NewServer(h)
	defer srv.Close()
	target := conformance.Target{URL: srv.URL + "/v1", MessagesURL: srv.URL + "/v1", Key: petstoretest.Key}
	r, err := conformance.Run(t.Context(), target, &conformance.Options{Timeout: 3 * time.Minute})
	if err != nil {
		return err
	}
	if r.Outcome == conformance.NotJudged || slices.ContainsFunc(r.Results, func(result conformance.Result) bool { // a server that drops connections and cuts responses short is not conformant
		return result.ID != "http.response" && result.Verdict == conformance.Fail
	}) {
		return fmt.Errorf("%s\n%s", r.Headline(), text(r))
	}
	if slices.Contains(slices.Collect(maps.Values(h.Summary().Met)), 0) {
		return fmt.Errorf("the suite did not meet the difficulty: %+v", h.Summary())
	}
	return nil
}
