package serve

import (
	"bytes"
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
	s.config = &config{backup: backupConfig{dir: t.TempDir()}}
	s.backups = &backups{server: s}
	if err := os.Mkdir(filepath.Join(s.backup.dir, "20261125T090000.000Z"), 0o700); err != nil {
		t.Fatal(err)
	}
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
	logRequest(slog.New(slog.NewJSONHandler(&line, nil)), httptest.NewRequest("GET", "/", nil), httpapi.Observation{Code: "code", Canceled: true})
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
