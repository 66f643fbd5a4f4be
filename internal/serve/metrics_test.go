package serve

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// Requests can be counted while the metrics are read, and none is lost. Buckets are
// cumulative, and a bucket contains its bound.
func TestMetrics(t *testing.T) {
	s := &server{config: new(config), pets: new(endpoint), keys: apikey.Static{}, counters: newCounters(), store: &Opened{Store: memory.New(nil)}}
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
	for _, took := range []time.Duration{0, 100 * time.Microsecond, 100*time.Microsecond + 1, 10 * time.Second, time.Minute} {
		s.counters.request(httpapi.Observation{Status: 404, Duration: took})
	}
	want := `petstore_requests_total{operation="getPet",status="500"} 0
petstore_requests_total{operation="getPet",status="503"} 8000
petstore_requests_total{operation="getPet",status="507"} 0
petstore_requests_total{operation="other",status="404"} 5
petstore_request_duration_seconds_sum{operation="getPet"} 8
petstore_request_duration_seconds_sum{operation="other"} 70.000200001
petstore_request_duration_seconds_count{operation="other"} 5
`
	for _, b := range strings.Fields("0.0001=2 0.00025=3 0.0005=3 0.001=3 0.0025=3 0.005=3 0.01=3 0.025=3 0.05=3 0.1=3 0.25=3 0.5=3 1=3 2.5=3 5=3 10=4 +Inf=5") {
		bound, count, _ := strings.Cut(b, "=")
		want += fmt.Sprintf("petstore_request_duration_seconds_bucket{operation=\"other\",le=%q} %s\n", bound, count)
	}
	got := scrape()
	for line := range strings.Lines(want) {
		if !strings.Contains(got, "\n"+line) {
			t.Errorf("there is no line %s in:\n%s", line, got)
		}
	}
}
