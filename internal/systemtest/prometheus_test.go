package systemtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"example.com/animalstore/internal/process"
)

// startCounting starts a server with an admin address, and sends requests. It
// returns the server and the requests that it has counted, by operation and status.
func startCounting(t *testing.T) (*process.Server, map[string]uint64) {
	t.Helper()
	exe := process.Build(t, "example.com/animalstore/cmd/refserver")
	s := process.Serve(t, process.Command(t.TempDir(), exe, "-addr=127.0.0.1:0", "-admin-addr=127.0.0.1:0"))
	sent := make(map[string]uint64)
	const pet = `{"name":"Rex","categoryId":4}`
	for i, r := range []struct {
		operation            string
		status               int
		method, target, body string
		fields               []string
	}{
		{"createPet", 201, "POST", "/pets", pet, nil},
		{"createPet", 201, "POST", "/pets", pet, nil},
		{"createPet", 400, "POST", "/pets", `{"name":""}`, nil},
		{"createPet", 413, "POST", "/pets", strings.Repeat(" ", 100_000), nil},
		{"createPet", 415, "POST", "/pets", pet, []string{"Content-Type", "text/plain"}},
		{"getPet", 200, "GET", "/pets/1", "", nil},
		{"getPet", 404, "GET", "/pets/3", "", nil},
		{"listPets", 200, "GET", "/pets", "", nil},
		{"listPets", 200, "HEAD", "/pets", "", nil},
		{"listPets", 401, "GET", "/pets", "", []string{"Authorization", ""}},
		{"submitMessage", 202, "POST", "/messages", `{"message":"one"}`, nil},
		{"openapi", 200, "GET", "/openapi.json", "", nil},
		{"other", 404, "GET", "/cats", "", nil},
		{"other", 404, "GET", "http://" + s.Host() + "/nothing", "", nil},
		{"other", 405, "DELETE", "/pets/1", "", nil},
		{"other", 405, "BREW", "/pets", "", nil},
	} {
		s.Must(r.status, r.method, r.target, r.body, r.fields...)
		sent[fmt.Sprintf("%s %d", r.operation, r.status)]++
		if i%3 == 0 {
			s.Must(http.StatusOK, "GET", "http://"+s.Host()+"/healthz", "") // not counted
		}
	}
	return s, sent
}

// parse returns the metrics of a server, by name.
func parse(t *testing.T, s *process.Server) map[string]*dto.MetricFamily {
	t.Helper()
	r := s.Must(http.StatusOK, "GET", s.Admin+"/metrics", "")
	format := expfmt.ResponseFormat(r.Header)
	if format.FormatType() != expfmt.TypeTextPlain {
		t.Fatalf("the format of %q is %q", r.Header.Get("Content-Type"), format)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(r.Body))
	if err != nil {
		t.Fatalf("%v in\n%s", err, r.Body)
	}
	return families
}

// counted returns the values of a metric that are not 0, by the values of the
// labels. The value of a histogram is its count.
func counted(m *dto.MetricFamily) map[string]uint64 {
	values := make(map[string]uint64)
	for _, m := range m.GetMetric() {
		var labels []string
		for _, l := range m.GetLabel() {
			labels = append(labels, l.GetValue())
		}
		if n := uint64(m.GetCounter().GetValue()+m.GetGauge().GetValue()) + m.GetHistogram().GetSampleCount(); n > 0 {
			values[strings.Join(labels, " ")] = n
		}
	}
	return values
}

func TestMetrics(t *testing.T) {
	s, sent := startCounting(t)
	text := s.Must(http.StatusOK, "GET", s.Admin+"/metrics", "").Body
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v, %v", problems, err)
	}
	var all map[string]*dto.MetricFamily
	s.Until("all requests have ended", func() bool { // some time after their responses
		all = parse(t, s)
		return cmp.Equal(sent, counted(all["petstore_requests_total"])) && len(counted(all["petstore_requests_in_flight"])) == 0
	})
	took := make(map[string]uint64)
	for key, n := range sent {
		operation, _, _ := strings.Cut(key, " ")
		took[operation] += n
	}
	file, err := os.Stat(s.Path("petstore.db"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]map[string]uint64{
		"petstore_request_duration_seconds": took,
		"petstore_log_lines_dropped_total":  {},
		"petstore_pets":                     {"": 2},
		"petstore_queued_messages":          {"": 1},
		"petstore_commit_duration_seconds":  {"": 3},
		"petstore_committed_changes_total":  {"": 3},
		"petstore_file_size_bytes":          {"": uint64(file.Size())},
	} {
		if diff := cmp.Diff(want, counted(all[name])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, name := range []string{"petstore_request_duration_seconds", "petstore_commit_duration_seconds"} {
		for _, m := range all[name].GetMetric() {
			last := uint64(0)
			for _, b := range m.GetHistogram().GetBucket() {
				if b.GetCumulativeCount() < last {
					t.Errorf("%s: the buckets are not cumulative: %v", name, m)
				}
				last = b.GetCumulativeCount()
			}
			if n := m.GetHistogram().GetSampleCount(); last != n || (m.GetHistogram().GetSampleSum() > 0) != (n > 0) {
				t.Errorf("%s: the last bucket, the count and the sum contradict each other: %v", name, m)
			}
		}
	}
}

// Prometheus collects every metric with the configuration in docs/operations.md,
// and has results for the queries there.
func TestPrometheus(t *testing.T) {
	exe := process.Tool(t, "prometheus")
	s, _ := startCounting(t)
	doc := string(process.ReadFile(t, "../../docs/operations.md"))
	block := func(language string) string {
		_, after, ok := strings.Cut(doc, "\n```"+language+"\n")
		text, _, _ := strings.Cut(after, "```")
		if !ok {
			t.Fatalf("docs/operations.md has no block of %s", language)
		}
		return text
	}
	dir := t.TempDir()
	config := "global:\n  scrape_interval: 1s\n" + strings.Replace(block("yaml"), "127.0.0.1:9090", strings.TrimPrefix(s.Admin, "http://"), 1)
	process.WriteFile(t, filepath.Join(dir, "prometheus.yml"), []byte(config))
	p, err := process.Start(process.Command(dir, exe, "--config.file=prometheus.yml", "--storage.tsdb.path=data", "--web.listen-address=127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	until := func(what string, ok func() bool) {
		t.Helper()
		if err := p.Until(what, ok); err != nil {
			t.Fatal(err)
		}
	}
	address := regexp.MustCompile(`msg="Listening on" address=(\S+)`)
	until("Prometheus listens", func() bool { return address.MatchString(p.Stderr.String()) })
	base := "http://" + address.FindStringSubmatch(p.Stderr.String())[1] + "/api/v1/"
	get := func(path string, data any) bool {
		t.Helper()
		resp, err := http.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode == http.StatusBadRequest {
			t.Fatalf("%s: %s, %v", path, b, err)
		}
		return resp.StatusCode == http.StatusOK && json.Unmarshal(b, &struct{ Data any }{data}) == nil
	}
	query := func(q string) (values []string) {
		var data struct {
			Result []struct{ Value [2]any }
		}
		if get("query?query="+url.QueryEscape(q), &data) {
			for _, r := range data.Result {
				values = append(values, fmt.Sprint(r.Value[1]))
			}
		}
		return values
	}
	until("Prometheus has collected the number of pets", func() bool { return slices.Equal(query("petstore_pets"), []string{"2"}) })
	for q := range strings.Lines(block("promql")) {
		until("there is a result of "+q, func() bool { return len(query(q)) > 0 })
	}
	var names []string
	if !get("label/__name__/values", &names) {
		t.Fatal("Prometheus does not return the names of the metrics")
	}
	for name, m := range parse(t, s) {
		if len(m.GetMetric()) > 0 && !slices.ContainsFunc(names, func(n string) bool { return n == name || n == name+"_count" }) {
			t.Errorf("Prometheus has no %s", name)
		}
	}
}
