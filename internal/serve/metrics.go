package serve

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/animalstore/petstore/httpapi"
)

// bounds are the upper bounds of the buckets of durations in seconds, except the
// last one.
var bounds = [...]float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// operations are the operations that are counted. The last one stands for requests that
// reach none, because of their path or method.
var operations = []string{"createPet", "getPet", "listPets", "openapi", "submitMessage", "other"}

// counters are what a server counts for GET /metrics.
type counters struct {
	mu       sync.Mutex
	requests map[string]*requests // by operation
}

// requests counts the requests for an operation.
type requests struct {
	statuses map[int]int // of the responses; 0: cut off without one
	buckets  [len(bounds) + 1]int
	sum      time.Duration
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
	r := c.requests[o.Operation]
	if r == nil {
		r = c.requests["other"]
	}
	r.statuses[o.Status]++
	i, _ := slices.BinarySearch(bounds[:], o.Duration.Seconds())
	r.buckets[i]++
	r.sum += o.Duration
}

// write writes the counters in the text format of Prometheus.
func (c *counters) write(b *bytes.Buffer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	const total, took = "petstore_requests_total", "petstore_request_duration_seconds"
	fmt.Fprintf(b, "# HELP %[1]s Requests, except health probes and those for the web page. The operation is \"other\" if none has this path and method."+
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
		for i, bound := range bounds {
			count += r.buckets[i]
			fmt.Fprintf(b, "%s_bucket{operation=%q,le=\"%v\"} %d\n", took, name, bound, count)
		}
		count += r.buckets[len(bounds)]
		fmt.Fprintf(b, "%[1]s_bucket{operation=%[2]q,le=\"+Inf\"} %[3]d\n%[1]s_sum{operation=%[2]q} %[4]v\n%[1]s_count{operation=%[2]q} %[3]d\n", took, name, count, r.sum.Seconds())
	}
}

// maxDescriptors returns how many file descriptors may be open. 0: it is not known, as on
// other systems than Linux.
func maxDescriptors() (limit float64) {
	text, _ := os.ReadFile("/proc/self/limits")
	_, after, _ := strings.Cut(string(text), "Max open files")
	_, _ = fmt.Sscan(after, &limit) // the soft limit comes first
	return limit
}

// metrics handles GET /metrics. It leaves out what cannot be read now.
func (s *server) metrics(w http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	s.counters.write(&b)
	gauge := func(name, help string, v float64) {
		fmt.Fprintf(&b, "# HELP %[1]s %[2]s\n# TYPE %[1]s gauge\n%[1]s %[3]v\n", name, help, v)
	}
	state := func(name, help string, is bool) {
		v := 0.0
		if is {
			v = 1
		}
		gauge(name, help, v)
	}
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	if stats, err := s.store.Stats(ctx); err == nil {
		gauge("petstore_pets", "Pets in the store. Missing while the store cannot be read.", float64(stats.Pets))
		gauge("petstore_queued_messages", "Messages in the queue. Missing while the store cannot be read.", float64(stats.QueuedMessages))
	}
	if info, err := os.Stat(s.store.Path); err == nil {
		gauge("petstore_file_size_bytes", "Size of the store's file.", float64(info.Size()))
	}
	if s.store.File != nil {
		if free, err := s.store.File.FreeBytes(); err == nil {
			gauge("petstore_file_free_bytes", "What of the file is free for later changes. If it is much, changes are slow.", float64(free))
		}
	}
	if s.backupDir != "" {
		newest := s.lastBackup.Load()
		if newest == nil || newest.IsZero() {
			newest = &s.started
		}
		gauge("petstore_backup_age_seconds", "Time since the newest backup was begun or, if there is none, since the server was started.", time.Since(*newest).Seconds())
		state("petstore_backup_failed", "1 if the last try of a backup failed.", s.backupFailed.Load())
	}
	if s.store.File != nil {
		state("petstore_damage_found", "1 if damage was found, so that changes are refused.", s.store.File.Damage() != nil)
	}
	state("petstore_keys_readable", "0 while API keys cannot be checked.", s.keysError(ctx) == nil)
	if s.certificate != nil {
		cert, _ := s.certificate.get(nil)
		gauge("petstore_certificate_expiry_timestamp_seconds", "When the certificate in use expires, in seconds since 1970.", float64(cert.Leaf.NotAfter.Unix()))
	}
	gauge("process_start_time_seconds", "When the server was started, in seconds since 1970.", float64(s.started.UnixMilli())/1000)
	if s.maxDescriptors > 0 {
		open := s.maxDescriptors // at the limit the folder cannot be opened
		if all, err := os.ReadDir("/proc/self/fd"); err == nil {
			open = float64(len(all))
		}
		gauge("petstore_open_descriptors", "Open file descriptors. At the limit, further connections wait.", open)
		gauge("petstore_max_descriptors", "Limit of open file descriptors.", s.maxDescriptors)
	}
	gauge("petstore_connections", "Open connections of clients.", float64(s.connections()))
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(b.Bytes())
}
