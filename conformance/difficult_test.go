package conformance_test

import (
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"example.com/animalstore/conformance"
	"example.com/animalstore/petstore/petstoretest"
)

// The difficult server of petstoretest is conformant.
func TestDifficult(t *testing.T) {
	slow(t)
	t.Parallel()
	h := petstoretest.NewHandler(&petstoretest.Options{Difficult: true, Seed: 1}) // not New, which would report the suite's deliberate mistakes
	srv := httptest.NewServer(h)
	defer srv.Close()
	target := conformance.Target{URL: srv.URL + "/v1", MessagesURL: srv.URL + "/v1", Key: petstoretest.Key}
	r, err := conformance.Run(t.Context(), target, &conformance.Options{Timeout: 3 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome == conformance.NotJudged || h.Summary().Failures == 0 || slices.ContainsFunc(r.Results, func(result conformance.Result) bool { // a server that drops connections and cuts responses short is not conformant
		return result.ID != "http.response" && result.Verdict == conformance.Fail
	}) {
		t.Errorf("%s\n%s\n%s", r.Headline(), text(r), h.Summary())
	}
}
