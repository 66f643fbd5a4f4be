package serve

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	"example.com/animalstore/petstore/httpapi"
)

// operations are the operations that are counted. The last one stands for requests that
// reach none, because of their path or method.
var operations = []string{"createPet", "getPet", "listPets", "openapi", "submitMessage", "other"}

// bounds are the upper bounds of the buckets of durations, in seconds.
var bounds = [...]float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, math.Inf(1)}

// counters are what a server counts for GET /metrics.
type counters struct {
	mu       sync.Mutex
	requests map[string]*requests // by operation
}

// requests counts the requests for an operation.
type requests struct {
	statuses map[int]int // of the responses; 0: cut off without one
	buckets  [len(bounds)]int
	took     time.Duration
}

func newCounters() *counters {
	c := &counters{requests: make(map[string]*requests)}
	for _, name := range operations {
		// Failures have a value from the start, so that the first one is an increase.
		c.requests[name] = &requests{statuses: map[int]int{500: 0, 503: 0, 507: 0}}
	}
	return c
}

// request counts a request after its response.
func (c *counters) request(o httpapi.Observation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.requests[cmp.Or(o.Operation, "other")]
	r.statuses[o.Status]++
	i, _ := slices.BinarySearch(bounds[:], o.Duration.Seconds())
	r.buckets[i]++
	r.took += o.Duration
}

// write writes the counters in the text format of Prometheus.
func (c *counters) write(b *bytes.Buffer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	const total, took = "petstore_requests_total", "petstore_request_duration_seconds"
	fmt.Fprintf(b, "# HELP %[1]s Requests below /v1. The operation is \"other\" if none has this path and method."+
		" The status is 0 if the connection was cut without a response.\n# TYPE %[1]s counter\n", total)
	for _, name := range operations {
		statuses := c.requests[name].statuses
		for _, status := range slices.Sorted(maps.Keys(statuses)) {
			fmt.Fprintf(b, "%s{operation=%q,status=\"%d\"} %d\n", total, name, status, statuses[status])
		}
	}
	fmt.Fprintf(b, "# HELP %[1]s Time from the header of a request to the end of its response.\n# TYPE %[1]s histogram\n", took)
	for _, name := range operations {
		r, count := c.requests[name], 0
		for i, n := range r.buckets {
			count += n
			fmt.Fprintf(b, "%s_bucket{operation=%q,le=\"%v\"} %d\n", took, name, bounds[i], count)
		}
		fmt.Fprintf(b, "%[1]s_sum{operation=%[2]q} %[3]v\n%[1]s_count{operation=%[2]q} %[4]d\n", took, name, r.took.Seconds(), count)
	}
}

// metrics handles GET /metrics. It leaves out what cannot be read now.
func (s *server) metrics(w http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	s.counters.write(&b)
	gauge := func(name, help string, v float64) {
		fmt.Fprintf(&b, "# HELP %[1]s %[2]s\n# TYPE %[1]s gauge\n%[1]s %[3]v\n", name, help, v)
	}
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	if stats, err := s.store.Stats(ctx); err == nil {
		gauge("petstore_pets", "Pets in the store. Missing while the store cannot be read.", float64(stats.Pets))
		gauge("petstore_queued_messages", "Messages in the queue. Missing while the store cannot be read.", float64(stats.QueuedMessages))
	}
	if s.store.Metrics != nil {
		s.store.Metrics(gauge)
	}
	if s.backupDir != "" {
		gauge("petstore_backup_age_seconds", "Time since the newest backup that did not fail was begun or, if there is none, since the server was started.", time.Since(*s.lastBackup.Load()).Seconds())
	}
	readable := 0.0
	if s.keysError(ctx) == nil {
		readable = 1
	}
	gauge("petstore_keys_readable", "0 while API keys cannot be checked.", readable)
	if s.certificate != nil {
		expiry := s.certificate.current.Load().Leaf.NotAfter
		gauge("petstore_certificate_expiry_timestamp_seconds", "When the certificate in use expires, in seconds since 1970.", float64(expiry.Unix()))
	}
	gauge("process_start_time_seconds", "When the server was started, in seconds since 1970.", float64(s.started.UnixMilli())/1000)
	gauge("petstore_connections", "Open connections of clients.", float64(s.connections()))
	gauge("petstore_max_connections", "Limit of these. Further connections wait.", float64(cap(s.pets.slots)))
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(b.Bytes())
}
