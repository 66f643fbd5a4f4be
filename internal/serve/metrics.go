package serve

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"example.com/animalstore/petstore/httpapi"
)

// otherOperation stands for the requests that reach no operation, because of their
// path or method.
const otherOperation = "other"

// operations are the operations that are counted.
var operations = []string{"createPet", "getPet", "listPets", "openapi", otherOperation, "submitMessage"}

// counters are what a server counts for GET /metrics.
type counters struct {
	mu       sync.Mutex
	requests map[string]*requests // by operation
	commits  histogram
	changes  int64 // in commits
}

// requests counts the requests for an operation.
type requests struct {
	statuses map[int]int64 // of the responses; 0: cut off without one
	took     histogram
}

func newCounters() *counters {
	c := &counters{requests: make(map[string]*requests)}
	for _, name := range operations {
		// Failures have a value from the start, so that the first one is an increase.
		c.requests[name] = &requests{statuses: map[int]int64{500: 0, 503: 0, 507: 0}}
	}
	return c
}

// request counts a request after its response.
func (c *counters) request(o httpapi.Observation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.requests[o.Operation]
	if r == nil {
		r = c.requests[otherOperation]
	}
	r.statuses[o.Status]++
	r.took.add(o.Duration)
}

// committed counts a commit of the store.
func (c *counters) committed(changes int, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.commits.add(took)
	c.changes += int64(changes)
}

// bounds are the upper bounds of the buckets of a histogram in seconds, except the
// last one.
var bounds = [...]float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// histogram counts durations by bucket.
type histogram struct {
	counts [len(bounds) + 1]int64
	sum    time.Duration
}

func (h *histogram) add(took time.Duration) {
	i, _ := slices.BinarySearch(bounds[:], took.Seconds())
	h.counts[i]++
	h.sum += took
}

// text is metrics in the text format of Prometheus.
type text struct{ bytes.Buffer }

// metric begins a metric, whose values follow.
func (t *text) metric(name, kind, help string) {
	fmt.Fprintf(t, "# HELP %[1]s %[3]s\n# TYPE %[1]s %[2]s\n", name, kind, help)
}

// value adds a value. series is the metric's name and its labels.
func (t *text) value(series string, v float64) {
	fmt.Fprintf(t, "%s %s\n", series, strconv.FormatFloat(v, 'f', -1, 64))
}

// single adds a metric that has one value, without labels.
func (t *text) single(name, kind, help string, v float64) {
	t.metric(name, kind, help)
	t.value(name, v)
}

// histogram adds the values of a histogram. label is empty or ends in a comma.
func (t *text) histogram(name, label string, h *histogram) {
	count := int64(0)
	for i, n := range h.counts {
		count += n
		bound := "+Inf"
		if i < len(bounds) {
			bound = strconv.FormatFloat(bounds[i], 'f', -1, 64)
		}
		t.value(fmt.Sprintf("%s_bucket{%sle=%q}", name, label, bound), float64(count))
	}
	if label != "" {
		label = "{" + label[:len(label)-1] + "}"
	}
	t.value(name+"_sum"+label, h.sum.Seconds())
	t.value(name+"_count"+label, float64(count))
}

// metrics handles GET /metrics.
func (s *server) metrics(w http.ResponseWriter, r *http.Request) {
	var t text
	s.counters.write(&t)
	s.write(r.Context(), &t)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(t.Bytes())
}

// write writes the counters.
func (c *counters) write(t *text) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t.metric("petstore_requests_total", "counter", "Requests, except health probes and those for the web page. The operation is \"other\" if none has this path and method. The status is 0 if the connection was cut without a response.")
	for _, name := range operations {
		for status := range 600 {
			if n, ok := c.requests[name].statuses[status]; ok {
				t.value(fmt.Sprintf("petstore_requests_total{operation=%q,status=\"%d\"}", name, status), float64(n))
			}
		}
	}
	const took = "petstore_request_duration_seconds"
	t.metric(took, "histogram", "Time from the header of a request to the end of its response.")
	for _, name := range operations {
		t.histogram(took, fmt.Sprintf("operation=%q,", name), &c.requests[name].took)
	}
	const commit = "petstore_commit_duration_seconds"
	t.metric(commit, "histogram", "Time to write and sync a commit; with PostgreSQL, until a synchronous standby has it.")
	t.histogram(commit, "", &c.commits)
	t.single("petstore_committed_changes_total", "counter", "Pets and messages added, and messages removed. Changes that wait at the same time share a commit.", float64(c.changes))
}

// write writes the metrics of the store and the process. It leaves out what cannot
// be read now.
func (s *server) write(ctx context.Context, t *text) {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if stats, err := s.store.Stats(ctx); err == nil {
		t.single("petstore_pets", "gauge", "Pets in the store. Missing while the store cannot be read.", float64(stats.Pets))
		t.single("petstore_queued_messages", "gauge", "Messages in the queue. Missing while the store cannot be read.", float64(stats.QueuedMessages))
	}
	if s.store.File != nil {
		if info, err := os.Stat(s.store.File.Path); err == nil {
			t.single("petstore_file_size_bytes", "gauge", "Size of the store's file (refserver).", float64(info.Size()))
		}
	}
	t.single("petstore_requests_in_flight", "gauge", "Requests that are being served.", float64(s.inFlight.Load()))
	t.single("petstore_connections", "gauge", "Open connections of clients.", float64(s.pets.open.Load()))
	if s.backups != nil {
		s.backups.write(t)
	}
	t.single("petstore_log_lines_dropped_total", "counter", "Lines of the log that could not be written.", float64(s.lines.dropped.Load()))
}
