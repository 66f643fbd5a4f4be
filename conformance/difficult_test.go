package conformance_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"example.com/animalstore/conformance"
	"example.com/animalstore/petstore/petstoretest"
)

// The server for tests is conformant with each of its difficulties, and with all.
func TestDifficult(t *testing.T) {
	options := map[string]petstoretest.Option{}
	for _, d := range petstoretest.Difficulties() {
		options[d.Name] = petstoretest.Difficult(1, d.Name)
	}
	for seed := range uint64(8) {
		options[fmt.Sprintf("all, with the seed %d", seed)] = petstoretest.Difficult(seed)
	}
	var runs sync.WaitGroup // all at once, because most of the time they wait
	for name, option := range options {
		runs.Go(func() {
			srv, err := petstoretest.Start(option) // New would report what the suite gets wrong on purpose
			if err != nil {
				t.Error(err)
				return
			}
			defer srv.Close()
			target := conformance.Target{URL: srv.URL, MessagesURL: srv.URL, Key: srv.Key}
			r, err := conformance.Run(t.Context(), target, &conformance.Options{Seed: 1, Timeout: 3 * time.Minute})
			if err != nil {
				t.Error(err)
				return
			}
			if r.Outcome != conformance.Conformant {
				t.Errorf("%s: %s\n%s", name, r.Headline(), text(r))
			}
			t.Logf("%s: %+v, %.1f s", name, r.Counts, r.Seconds)
		})
	}
	runs.Wait()
}
