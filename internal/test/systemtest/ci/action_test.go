package ci

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/internal/test/testserver"
)

const root = "../../../.."

func TestMain(m *testing.M) { os.Exit(process.Main(m)) }

// block returns the first block of code in docs/conformance.md that starts with a text.
func block(t *testing.T, start string) []byte {
	t.Helper()
	page := process.ReadFile(t, root+"/docs/conformance.md")
	m := regexp.MustCompile("(?s)```\\w+\n(" + regexp.QuoteMeta(start) + ".*?)```\n").FindSubmatch(page)
	if m == nil {
		t.Fatalf("the page lacks a block that starts with %q", start)
	}
	return m[1]
}

// runAction runs the shell steps of the action in dir as GitHub does, and returns the exit
// code of the first one that fails, and the summary of the job.
func runAction(t *testing.T, dir string, inputs map[string]string) (code int, summary string) {
	t.Helper()
	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Steps []struct {
				Run string
				Env map[string]string
			}
		}
	}
	path, err := filepath.Abs(root + "/.github/actions/conformance/action.yml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(process.ReadFile(t, path), &action); err != nil {
		t.Fatal(err)
	}
	var expressions []string
	for name, input := range action.Inputs {
		value, ok := inputs[name]
		if !ok {
			value = input.Default
		}
		expressions = append(expressions, "${{ inputs."+name+" }}", value)
	}
	for name := range inputs {
		if _, ok := action.Inputs[name]; !ok {
			t.Errorf("the action has no input %s", name)
		}
	}
	temp := t.TempDir()
	for _, step := range action.Runs.Steps {
		if step.Run == "" || code != 0 {
			continue
		}
		if strings.Contains(step.Run, "${{") {
			t.Error("a value must not become a part of a script")
		}
		cmd := process.Command(dir, process.Tool(t, "bash"), "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
		cmd.Env = append(cmd.Env, "GITHUB_ACTION_PATH="+filepath.Dir(path), "RUNNER_TEMP="+temp, "GITHUB_STEP_SUMMARY="+filepath.Join(temp, "summary"))
		for name, value := range step.Env {
			cmd.Env = append(cmd.Env, name+"="+strings.NewReplacer(expressions...).Replace(value))
		}
		code, _, _ = process.Run(t, cmd)
	}
	return code, string(process.ReadFile(t, filepath.Join(temp, "summary")))
}

// The first inputs are those of the workflow on the page.
func TestAction(t *testing.T) {
	good := httptest.NewServer(testserver.New(3))
	defer good.Close()
	broken := httptest.NewServer(testserver.Changed(testserver.New(3), func(_ *http.Request, rec *httptest.ResponseRecorder) {
		if rec.Code == http.StatusCreated {
			rec.Code = http.StatusOK
		}
	}))
	defer broken.Close()
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ With map[string]string }
		}
	}
	if err := yaml.Unmarshal(block(t, "name: Conformance\n"), &workflow); err != nil {
		t.Fatal(err)
	}
	steps := workflow.Jobs["conformance"].Steps
	documented := steps[len(steps)-1].With
	documented["url"], documented["messages-url"], documented["key"], documented["reports"] = good.URL+"/v1", good.URL+"/v1", testserver.Key, "a b"

	dir := t.TempDir()
	const all = "report.json report.txt report.xml"
	for _, tt := range []struct {
		name            string
		inputs          map[string]string
		code            int
		summary         string
		folder, reports string
	}{
		{"a conformant server", documented, 0, "    " + good.URL + "/v1, ", "a b", all},
		{"a broken server", map[string]string{"url": broken.URL + "/v1", "key": testserver.Key}, 1, "    not conformant: ", "conformance", all},
		{"a wrong key", map[string]string{"url": good.URL + "/v1", "key": "wrong"}, 3, "    not judged: ", "conformance", all},
		{"a flag that does not exist, after other runs", map[string]string{"url": good.URL + "/v1", "key": testserver.Key, "flags": "-quick"}, 2, "The server was not judged.", "conformance", "report.txt"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if code, summary := runAction(t, dir, tt.inputs); code != tt.code || !strings.Contains(summary, tt.summary) {
				t.Errorf("code %d, want %d; the summary lacks %q:\n%s", code, tt.code, tt.summary, summary)
			}
			var files []string
			paths, _ := filepath.Glob(filepath.Join(dir, tt.folder, "*"))
			for _, path := range paths {
				files = append(files, filepath.Base(path))
			}
			if got := strings.Join(files, " "); got != tt.reports {
				t.Errorf("the reports are %q, want %q", got, tt.reports)
			}
		})
	}
}
