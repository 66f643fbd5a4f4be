package serve

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage"
	"example.com/animalstore/petstore/storage/memory"
)

// newCounting returns a server that has every metric and is not started.
func newCounting() *server {
	return &server{
		lines:    new(logQueue),
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

// section returns the section of docs/operations.md with that title.
func section(t *testing.T, title string) string {
	t.Helper()
	b, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(b), "\n## "+title+"\n")
	if !ok {
		t.Fatalf("docs/operations.md has no section %s", title)
	}
	text, _, _ := strings.Cut(after, "\n## ")
	return text
}

// The table in docs/operations.md lists every metric.
func TestMetricsAreDocumented(t *testing.T) {
	s := newCounting()
	s.counters.request(httpapi.Observation{Status: http.StatusServiceUnavailable, Message: "busy"})
	text := scrape(s)
	var rows []string
	for _, m := range regexp.MustCompile(`(?m)^# HELP (\S+) (.*)\n# TYPE \S+ (.*)\n\w+(?:\{(.*)\})? `).FindAllStringSubmatch(text, -1) {
		var labels []string
		for _, label := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(m[4], -1) {
			if label[1] != "le" {
				labels = append(labels, "`"+label[1]+"`")
			}
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |\n", m[1], m[3], strings.Join(labels, ", "), m[2]))
	}
	_, after, _ := strings.Cut(section(t, "Metrics"), "|---|---|---|---|\n")
	table, _, _ := strings.Cut(after, "\n\n")
	if diff := cmp.Diff(table+"\n", strings.Join(rows, "")); len(rows) != strings.Count(text, "# HELP") || diff != "" {
		t.Errorf("%d metrics; docs/operations.md (-) and what is served (+):\n%s", len(rows), diff)
	}
}

// The tables in docs/operations.md list every line of the log, and every field of the
// access log.
func TestLogIsDocumented(t *testing.T) {
	var documented []string
	for row := range strings.Lines(section(t, "Log")) {
		if strings.HasPrefix(row, "| `") {
			first, _, _ := strings.Cut(row[1:], "|")
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(first, -1) {
				documented = append(documented, m[1])
			}
		}
	}
	want := []string{"the store has failed"} // its text is not a constant
	call := regexp.MustCompile(`\b(?:(?:Info|Warn|Error)\(|(?:log|LogAttrs|NewRecord)\([^"\n]*)"([^":;]+)`)
	for _, dir := range []string{".", "../../petstore/httpapi", "../../petstore/apikey", "../../petstore/storage", "../../petstore/storage/postgres"} {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%d files in %s, %v", len(files), dir, err)
		}
		for _, path := range files {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range call.FindAllStringSubmatch(string(b), -1) {
				if !strings.HasSuffix(path, "_test.go") {
					want = append(want, m[1])
				}
			}
		}
	}
	var line bytes.Buffer
	logAccess(slog.New(slog.NewJSONHandler(&line, nil)), httptest.NewRequest("GET", "/", nil), httpapi.Observation{Code: "code", Canceled: true})
	var fields map[string]any
	if err := json.Unmarshal(line.Bytes(), &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{slog.TimeKey, slog.LevelKey, slog.MessageKey} {
		delete(fields, name)
	}
	want = slices.AppendSeq(want, maps.Keys(fields))
	slices.Sort(want)
	slices.Sort(documented)
	if diff := cmp.Diff(documented, slices.Compact(want)); diff != "" {
		t.Errorf("docs/operations.md (-) and what is logged (+):\n%s", diff)
	}
}

// Every operation has its own counters. Requests that reach none share one set.
func TestOperations(t *testing.T) {
	c := newCounters()
	names := []string{"openapi", otherOperation}
	for _, m := range regexp.MustCompile(`(?m)^        "operationId": "(\w+)"`).FindAllStringSubmatch(string(httpapi.OpenAPI()), -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	if diff := cmp.Diff(names, slices.Sorted(maps.Keys(c.operations))); diff != "" {
		t.Errorf("in the document (-) and counted (+):\n%s", diff)
	}
	for _, name := range append(names, "", "a new one") {
		c.request(httpapi.Observation{Operation: name, Status: 200})
	}
	for name, op := range c.operations {
		want := int64(1)
		if name == otherOperation {
			want = 3
		}
		if got := op.responses[200].Load(); got != want {
			t.Errorf("%s: %d requests, want %d", name, got, want)
		}
	}
}

// Buckets are cumulative, and a bucket contains its bound.
func TestHistogram(t *testing.T) {
	var d durations
	for _, took := range []time.Duration{0, 100 * time.Microsecond, 100*time.Microsecond + 1, 10 * time.Second, time.Minute} {
		d.add(took)
	}
	var text metricsText
	text.metric("x_seconds", "histogram", "Help.")
	text.histogram(&d, "label", "a\\b\"c\nd")
	want := "# HELP x_seconds Help.\n# TYPE x_seconds histogram\n"
	for _, b := range strings.Fields("0.0001=2 0.00025=3 0.0005=3 0.001=3 0.0025=3 0.005=3 0.01=3 0.025=3 0.05=3 0.1=3 0.25=3 0.5=3 1=3 2.5=3 5=3 10=4 +Inf=5") {
		bound, count, _ := strings.Cut(b, "=")
		want += fmt.Sprintf("x_seconds_bucket{label=\"a\\\\b\\\"c\\nd\",le=%q} %s\n", bound, count)
	}
	want += "x_seconds_sum{label=\"a\\\\b\\\"c\\nd\"} 70.000200001\nx_seconds_count{label=\"a\\\\b\\\"c\\nd\"} 5\n"
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Requests and commits can be counted while the metrics are read, and none is lost.
func TestCountWhileRead(t *testing.T) {
	s := newCounting()
	const callers, each = 8, 1000
	h := s.counters.around(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		s.counters.request(httpapi.Observation{Operation: "getPet", Status: 503, Message: "busy", Duration: time.Millisecond})
		s.counters.committed(2, time.Millisecond)
	}))
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range each {
				h.ServeHTTP(nil, nil)
			}
		})
	}
	wg.Go(func() {
		for range 20 {
			_ = scrape(s)
		}
	})
	wg.Wait()
	text := scrape(s)
	for _, want := range []string{
		`petstore_requests_total{operation="getPet",status="503"} 8000`, `petstore_request_duration_seconds_sum{operation="getPet"} 8`,
		`petstore_requests_refused_total{reason="busy"} 8000`, "petstore_requests_in_flight 0",
		"petstore_commit_duration_seconds_count 8000", "petstore_committed_changes_total 16000",
	} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("there is no line %s in:\n%s", want, text)
		}
	}
}

// BenchmarkCounters measures a request to a trivial handler and store, with and
// without counters.
func BenchmarkCounters(b *testing.B) {
	store := memory.New(nil)
	if _, err := store.CreatePet(b.Context(), petstore.NewPet{Name: "Rex"}, petstore.Once{}); err != nil {
		b.Fatal(err)
	}
	allow := httpapi.AuthenticatorFunc(func(context.Context, string) (string, error) { return "benchmark", nil })
	counted := &server{config: new(config), admin: new(endpoint), counters: newCounters()}
	for _, side := range []struct {
		name    string
		handler http.Handler
	}{
		{"counted", counted.counters.around(httpapi.New(store, allow, &httpapi.Options{Observe: counted.observer()}))},
		{"uncounted", httpapi.New(store, allow, nil)},
	} {
		b.Run(side.name, func(b *testing.B) {
			r := httptest.NewRequest("GET", "/pets/1", nil)
			r.Header.Set("Authorization", "Bearer key")
			b.ReportAllocs()
			for b.Loop() {
				w := httptest.NewRecorder()
				if side.handler.ServeHTTP(w, r); w.Code != http.StatusOK {
					b.Fatal(w.Code)
				}
			}
		})
	}
}
