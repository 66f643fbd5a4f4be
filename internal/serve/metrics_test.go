package serve

import (
	"context"
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

type store struct{ *memory.Store }

func (store) Export(context.Context, io.Writer) error { return nil }

// Requests can be counted while the metrics are read, and none is lost.
func TestMetrics(t *testing.T) {
	s := &server{config: new(config), pets: new(endpoint), keys: apikey.Static{}, counters: newCounters(), store: &Opened{Store: store{memory.New(nil)}}}
	scrape := func() string {
		w := httptest.NewRecorder()
		s.metrics(w, httptest.NewRequest("GET", "/metrics", nil))
		return w.Body.String()
	}
	const callers, each = 8, 1000
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range each {
				s.counters.request(httpapi.Observation{Operation: "getPet", Status: 503, Duration: time.Millisecond})
			}
		})
	}
	for range 20 {
		_ = scrape()
	}
	wg.Wait()
	s.counters.request(httpapi.Observation{Status: 404, Duration: time.Minute})
	want := `petstore_requests_total{operation="getPet",status="500"} 0
petstore_requests_total{operation="getPet",status="503"} 8000
petstore_requests_total{operation="other",status="404"} 1
petstore_request_duration_seconds_bucket{operation="getPet",le="0.0005"} 0
petstore_request_duration_seconds_bucket{operation="getPet",le="0.001"} 8000
petstore_request_duration_seconds_bucket{operation="getPet",le="+Inf"} 8000
petstore_request_duration_seconds_sum{operation="getPet"} 8
petstore_request_duration_seconds_bucket{operation="other",le="10"} 0
petstore_request_duration_seconds_bucket{operation="other",le="+Inf"} 1
petstore_request_duration_seconds_count{operation="other"} 1
`
	got := scrape()
	for line := range strings.Lines(want) {
		if !strings.Contains(got, "\n"+line) {
			t.Errorf("there is no line %s in:\n%s", line, got)
		}
	}
}
