package ci

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/internal/test/testserver"
)

const (
	root       = "../../../.."
	actionFile = root + "/.github/actions/conformance/action.yml"
)

func TestMain(m *testing.M) { os.Exit(process.Main(m)) }

// action is what an action.yml has, as far as the tests need it.
type action struct {
	Inputs map[string]struct {
		Default  string
		Required bool
	}
	Runs struct {
		Steps []struct {
			Name string
			Run  string
			Env  map[string]string
		}
	}
}

// runAction runs the shell steps of the action in dir as GitHub does, and returns
// the exit code of the first one that fails, the summary of the job, and the output.
func runAction(t *testing.T, dir string, inputs map[string]string) (code int, summary, output string) {
	t.Helper()
	path, err := filepath.Abs(actionFile)
	if err != nil {
		t.Fatal(err)
	}
	var a action
	if err := yaml.Unmarshal(process.ReadFile(t, path), &a); err != nil {
		t.Fatal(err)
	}
	var expressions []string
	for name, input := range a.Inputs {
		value, ok := inputs[name]
		if !ok && input.Required {
			t.Fatalf("the input %s is required", name)
		} else if !ok {
			value = input.Default
		}
		expressions = append(expressions, "${{ inputs."+name+" }}", value)
	}
	temp := t.TempDir()
	for _, s := range a.Runs.Steps {
		if s.Run == "" {
			continue
		}
		if strings.Contains(s.Run, "${{") {
			t.Errorf("%s: a value must not become a part of the script", s.Name)
		}
		cmd := process.Command(dir, process.Tool(t, "bash"), "--noprofile", "--norc", "-eo", "pipefail", "-c", s.Run)
		cmd.Env = append(cmd.Env, "GITHUB_ACTION_PATH="+filepath.Dir(path), "RUNNER_TEMP="+temp, "GITHUB_STEP_SUMMARY="+filepath.Join(temp, "summary"))
		for name, value := range s.Env {
			cmd.Env = append(cmd.Env, name+"="+strings.NewReplacer(expressions...).Replace(value))
		}
		c, stdout, stderr := process.Run(t, cmd)
		output += stdout + stderr
		if code = c; code != 0 {
			break
		}
	}
	b, _ := os.ReadFile(filepath.Join(temp, "summary"))
	return code, string(b), output
}

func TestAction(t *testing.T) {
	good := httptest.NewServer(testserver.New(3))
	defer good.Close()
	broken := httptest.NewServer(testserver.Changed(testserver.New(3), func(_ *http.Request, rec *httptest.ResponseRecorder) {
		if rec.Code == http.StatusCreated {
			rec.Code = http.StatusOK
		}
	}))
	defer broken.Close()

	dir := t.TempDir()
	for _, tt := range []struct {
		name    string
		inputs  map[string]string
		code    int
		summary string
		reports string // the folder, and its files
	}{
		{
			name:    "a conformant server, every input",
			inputs:  map[string]string{"url": good.URL + "/v1", "messages-url": good.URL + "/v1", "key": testserver.Key, "flags": "-run=*\n\n-parallel=2\n", "reports": "a b"},
			summary: "    " + good.URL + "/v1, ",
			reports: "a b: report.json report.txt report.xml",
		},
		{
			name:    "a broken server, the defaults",
			inputs:  map[string]string{"url": broken.URL + "/v1", "key": testserver.Key},
			code:    1,
			summary: "    not conformant: ",
			reports: "conformance: report.json report.txt report.xml",
		},
		{
			name:    "a server that refuses the key, and reports of another run",
			inputs:  map[string]string{"url": broken.URL + "/v1", "key": "wrong"},
			code:    3,
			summary: "responds 401 Unauthorized: the target does not accept the API key\n    not judged: ",
			reports: "conformance: report.json report.txt report.xml",
		},
		{
			name:    "a flag that does not exist",
			inputs:  map[string]string{"url": good.URL + "/v1", "key": testserver.Key, "flags": "-quick"},
			code:    2,
			summary: "The server was not judged.",
			reports: "conformance: report.txt",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, summary, output := runAction(t, dir, tt.inputs)
			if code != tt.code || !strings.Contains(summary, tt.summary) {
				t.Errorf("code %d, want %d and %q\n%s\n%s", code, tt.code, tt.summary, summary, output)
			}
			folder, _, _ := strings.Cut(tt.reports, ":")
			files, err := os.ReadDir(filepath.Join(dir, folder))
			if err != nil {
				t.Fatal(err)
			}
			got := folder + ":"
			for _, f := range files {
				got += " " + f.Name()
			}
			if got != tt.reports {
				t.Errorf("the reports are %q, want %q", got, tt.reports)
			}
		})
	}
}
