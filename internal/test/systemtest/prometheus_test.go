package systemtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/internal/test/process"
)

// code returns the code of that language in docs/operations.md.
func code(t *testing.T, language string) (text string) {
	t.Helper()
	blocks := strings.Split(string(process.ReadFile(t, "../../../docs/operations.md")), "\n```"+language+"\n")
	for _, block := range blocks[1:] {
		block, _, _ = strings.Cut(block, "```")
		text += block
	}
	if text == "" {
		t.Fatalf("docs/operations.md lacks a block of %s", language)
	}
	return text
}

// TestPrometheus: Prometheus with the configuration in docs/operations.md collects what
// the server counts, and has results for the queries there, except for the alerts.
func TestPrometheus(t *testing.T) {
	exe := process.Tool(t, "prometheus")
	t.Parallel()
	s := startServer(t, "-admin-addr=127.0.0.1:0")
	sent := make(map[string]string) // the number of requests, by operation and status
	for i, r := range []struct {
		operation, method, target, body string
		status                          int
	}{
		{"createPet", "POST", "/pets", `{"name":"Rex","categoryId":4}`, 201},
		{"createPet", "POST", "/pets", `{"name":""}`, 400},
		{"getPet", "GET", "/pets/1", "", 200},
		{"listPets", "GET", "/pets", "", 200},
		{"submitMessage", "POST", "/messages", `{"message":"one"}`, 202},
		{"openapi", "GET", "/openapi.json", "", 200},
		{"other", "GET", "/cats", "", 404},
		{"other", "DELETE", "/pets/1", "", 405},
	} {
		for range i + 1 {
			s.Must(r.status, r.method, r.target, r.body)
		}
		sent[fmt.Sprint(r.operation, " ", r.status)] = fmt.Sprint(i + 1)
	}
	s.Must(http.StatusOK, "GET", "http://"+s.Host()+"/healthz", "") // not counted

	check := process.Command(t.TempDir(), process.Tool(t, "promtool"), "check", "metrics")
	check.Stdin = strings.NewReader(s.Must(http.StatusOK, "GET", s.Admin+"/metrics", "").Body)
	if code, stdout, stderr := process.Run(t, check); code != 0 {
		t.Errorf("promtool check metrics: %s%s", stdout, stderr)
	}

	config := t.TempDir() + "/prometheus.yml"
	scrape := strings.Replace(code(t, "yaml"), "127.0.0.1:9090", strings.TrimPrefix(s.Admin, "http://"), 1)
	process.WriteFile(t, config, []byte("global:\n  scrape_interval: 1s\n"+scrape))
	address := regexp.MustCompile(`msg="Listening on" address=(\S+)`)
	p := startTool(t, []string{exe, "--config.file=" + config, "--storage.tsdb.path=data", "--web.listen-address=127.0.0.1:0"},
		func(p *process.Process) bool {
			return strings.Contains(p.Stderr.String(), "ready to receive web requests")
		})
	base := "http://" + address.FindStringSubmatch(p.Stderr.String())[1]
	// query returns the values of the results, by the operation and the status.
	query := func(q string) map[string]string {
		t.Helper()
		resp, err := http.Get(base + "/api/v1/query?query=" + url.QueryEscape(q))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var found struct {
			Data struct {
				Result []struct {
					Metric map[string]string
					Value  [2]any
				}
			}
		}
		if err := json.NewDecoder(resp.Body).Decode(&found); err != nil || resp.StatusCode == http.StatusBadRequest {
			t.Fatalf("%s: %s, %v", q, resp.Status, err)
		}
		values := make(map[string]string)
		for _, r := range found.Data.Result {
			values[strings.TrimSpace(r.Metric["operation"]+" "+r.Metric["status"])] = fmt.Sprint(r.Value[1])
		}
		return values
	}
	until := func(what string, ok func() bool) {
		t.Helper()
		if err := p.Until(what, ok); err != nil {
			t.Errorf("%v; Prometheus has %v", err, query("petstore_requests_total"))
		}
	}
	until("all requests are counted", func() bool { return cmp.Equal(query("petstore_requests_total > 0"), sent) })
	until("pets are counted", func() bool { return query("petstore_pets")[""] == "1" })
	for q := range strings.Lines(code(t, "promql")) {
		if strings.Contains(q, " > ") || strings.Contains(q, " == ") {
			if found := query(q); len(found) > 0 {
				t.Errorf("the alert %s: %v", q, found)
			}
			continue
		}
		until("there is a result of "+q, func() bool { return len(query(q)) > 0 })
	}
}
