package conformance_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/animalstore/conformance"
	"example.com/animalstore/petstore/petstoretest"
)

// The server for tests is conformant with each of its difficulties, and with all.
func TestDifficult(t *testing.T) {
	cases := map[string]petstoretest.Option{}
	for _, d := range petstoretest.Difficulties() {
		cases[d.Name] = petstoretest.Difficult(1, d.Name)
	}
	for seed := range uint64(10) {
		cases[fmt.Sprint("all, seed ", seed)] = petstoretest.Difficult(seed)
	}
	for name, option := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, err := petstoretest.Start(option) // New would report what the suite does on purpose
			if err != nil {
				t.Fatal(err)
			}
			defer srv.Close()
			target := conformance.Target{URL: srv.URL, MessagesURL: srv.URL, Key: srv.Key}
			r, err := conformance.Run(t.Context(), target, &conformance.Options{Seed: 1, Timeout: 3 * time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			if r.Outcome != conformance.Conformant {
				t.Errorf("%s\n%s", r.Headline(), text(r))
			}
			t.Logf("%d inconclusive, %d warnings", r.Counts.Inconclusive, r.Counts.Warn)
		})
	}
}
