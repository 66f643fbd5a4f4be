package serve

import (
	"context"
	"maps"
	"net/http"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"example.com/animalstore/internal/version"
	"example.com/animalstore/petstore/httpapi"
)

// counters are what a server counts for GET /metrics. Counting a request takes a few
// atomic additions, and a lock if it is refused.
type counters struct {
	started    time.Time
	serving    atomic.Int64          // requests
	operations map[string]*operation // by name; it never changes

	mu      sync.Mutex
	refused map[string]int64 // requests, by reason

	commits durations
	changes atomic.Int64 // in commits
}

// operation counts the requests for an operation of the contract.
type operation struct {
	responses [600]atomic.Int64 // by status; 0: cut off without a response
	took      durations
}

// otherOperation stands for the requests that reach no operation, because of their
// path or method.
const otherOperation = "other"

func newCounters() *counters {
	c := &counters{started: time.Now(), operations: make(map[string]*operation), refused: make(map[string]int64)}
	for _, name := range []string{"listPets", "createPet", "getPet", "submitMessage", "openapi", otherOperation} {
		c.operations[name] = new(operation)
	}
	return c
}

// around counts the requests that next is serving.
func (c *counters) around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.serving.Add(1)
		defer c.serving.Add(-1)
		next.ServeHTTP(w, r)
	})
}

// request counts a request after its response.
func (c *counters) request(o httpapi.Observation) {
	op := c.operations[o.Operation]
	if op == nil {
		op = c.operations[otherOperation]
	}
	op.responses[o.Status].Add(1)
	op.took.add(o.Duration)
	if o.Status != http.StatusServiceUnavailable && o.Status != http.StatusInsufficientStorage {
		return
	}
	reason := o.Message // one of a few fixed texts of our stores and handlers
	if o.Canceled {
		reason = "the client went away"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused[reason]++
}

// committed counts a commit of the store.
func (c *counters) committed(changes int, took time.Duration) {
	c.commits.add(took)
	c.changes.Add(int64(changes))
}

// write writes the counters.
func (c *counters) write(t *metricsText) {
	operations := slices.Sorted(maps.Keys(c.operations))
	t.metric("petstore_requests_total", "counter", "Requests, except health probes and those for the web page. The operation is \"other\" if none has this path and method. The status is \"none\" if the connection was cut without a response.")
	for _, name := range operations {
		for status := range c.operations[name].responses {
			n, text := c.operations[name].responses[status].Load(), strconv.Itoa(status)
			if status == 0 {
				text = "none"
			}
			// Failures have a value from the start, so that the first one is an increase.
			if n > 0 || status == 500 || status == 503 || status == 507 {
				t.value("", float64(n), "operation", name, "status", text)
			}
		}
	}
	t.metric("petstore_request_duration_seconds", "histogram", "Time from the header of a request to the end of its response.")
	for _, name := range operations {
		t.histogram(&c.operations[name].took, "operation", name)
	}
	t.metric("petstore_requests_refused_total", "counter", "Requests with the status 503 or 507. The reason is the message of the response, or \"the client went away\".")
	c.mu.Lock()
	refused := maps.Clone(c.refused)
	c.mu.Unlock()
	for _, reason := range slices.Sorted(maps.Keys(refused)) {
		t.value("", float64(refused[reason]), "reason", reason)
	}
	t.single("petstore_requests_in_flight", "gauge", "Requests that are being served.", float64(c.serving.Load()))
	t.metric("petstore_commit_duration_seconds", "histogram", "Time to write and sync a commit; with PostgreSQL, until a synchronous standby has it.")
	t.histogram(&c.commits)
	t.single("petstore_committed_changes_total", "counter", "Pets and messages added, and messages removed. Changes that wait at the same time share a commit.",
		float64(c.changes.Load()))
}

// metrics handles GET /metrics.
func (s *server) metrics(w http.ResponseWriter, r *http.Request) {
	var t metricsText
	s.counters.write(&t)
	s.writeStore(r.Context(), &t)
	s.writeProcess(&t)
	w.Header().Set("Content-Type", metricsType)
	_, _ = w.Write(t.Bytes())
}

// writeStore writes the metrics of the store. It leaves out what cannot be read now.
func (s *server) writeStore(ctx context.Context, t *metricsText) {
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
}

// writeProcess writes the metrics of the process.
func (s *server) writeProcess(t *metricsText) {
	t.single("petstore_connections", "gauge", "Open connections of clients.", float64(s.connections()))
	t.single("petstore_log_lines_dropped_total", "counter", "Lines of the log that could not be written.", float64(s.lines.dropped.Load()))
	t.metric("petstore_build_info", "gauge", "Always 1. The version is that of the log line \"serving\".")
	t.value("", 1, "version", version.String())
	t.single("process_start_time_seconds", "gauge", "When the server was started, in seconds since 1970.", float64(s.counters.started.Unix()))
	t.single("go_goroutines", "gauge", "Goroutines.", float64(runtime.NumGoroutine()))
	memory := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(memory)
	t.single("go_memory_used_bytes", "gauge", "Memory of the Go runtime, which does not include the store's mapped file.",
		float64(memory[0].Value.Uint64()-memory[1].Value.Uint64()))
}
