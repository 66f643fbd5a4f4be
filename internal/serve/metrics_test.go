package serve

import (
	"fmt"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage"
	"example.com/animalstore/petstore/storage/memory"
)

// newCounting returns a server that has every metric and is not started.
func newCounting() *server {
	return &server{
		lines:    new(logWriter),
		pets:     new(endpoint),
		counters: newCounters(),
		store: &Store{
			Backend: memory.New(nil),
			File:    &storage.Info{Path: os.Args[0]},
		},
	}
}

// scrape returns the metrics of a server.
func scrape(s *server) string {
	w := httptest.NewRecorder()
	s.metrics(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

// Every operation has its own counters. Requests that reach none share one set.
func TestOperations(t *testing.T) {
	names := []string{"openapi", otherOperation}
	for _, m := range regexp.MustCompile(`(?m)^        "operationId": "(\w+)"`).FindAllStringSubmatch(string(httpapi.OpenAPI()), -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	if diff := cmp.Diff(names, operations); diff != "" {
		t.Errorf("in the document (-) and counted (+):\n%s", diff)
	}
	s := newCounting()
	for _, name := range append(names, "", "a new one") {
		s.counters.request(httpapi.Observation{Operation: name, Status: 200})
	}
	wantMetrics(t, s, `petstore_requests_total{operation="getPet",status="200"} 1`, `petstore_requests_total{operation="other",status="200"} 3`)
}

// wantMetrics fails unless the metrics have these lines.
func wantMetrics(t *testing.T, s *server, lines ...string) {
	t.Helper()
	text := scrape(s)
	for _, want := range lines {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("there is no line %s in:\n%s", want, text)
		}
	}
}

// Buckets are cumulative, and a bucket contains its bound.
func TestHistogram(t *testing.T) {
	var h histogram
	for _, took := range []time.Duration{0, 100 * time.Microsecond, 100*time.Microsecond + 1, 10 * time.Second, time.Minute} {
		h.add(took)
	}
	var m text
	m.histogram("x_seconds", `label="a",`, &h)
	want := ""
	for _, b := range strings.Fields("0.0001=2 0.00025=3 0.0005=3 0.001=3 0.0025=3 0.005=3 0.01=3 0.025=3 0.05=3 0.1=3 0.25=3 0.5=3 1=3 2.5=3 5=3 10=4 +Inf=5") {
		bound, count, _ := strings.Cut(b, "=")
		want += fmt.Sprintf("x_seconds_bucket{label=\"a\",le=%q} %s\n", bound, count)
	}
	want += "x_seconds_sum{label=\"a\"} 70.000200001\nx_seconds_count{label=\"a\"} 5\n"
	if diff := cmp.Diff(want, m.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Requests and commits can be counted while the metrics are read, and none is lost.
func TestCountWhileRead(t *testing.T) {
	s := newCounting()
	const callers, each = 8, 1000
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range each {
				s.counters.request(httpapi.Observation{Operation: "getPet", Status: 503, Duration: time.Millisecond})
				s.counters.committed(2, time.Millisecond)
			}
		})
	}
	wg.Go(func() {
		for range 20 {
			_ = scrape(s)
		}
	})
	wg.Wait()
	wantMetrics(t, s, `petstore_requests_total{operation="getPet",status="503"} 8000`, `petstore_request_duration_seconds_sum{operation="getPet"} 8`,
		"petstore_requests_in_flight 0", "petstore_commit_duration_seconds_count 8000", "petstore_committed_changes_total 16000")
}
