package ci

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"example.com/animalstore/internal/test/process"
)

const page = root + "/docs/conformance.md"

// block returns the first block of code in the page that starts with a text.
func block(t *testing.T, start string) string {
	t.Helper()
	m := regexp.MustCompile("(?s)```\\w+\n(" + regexp.QuoteMeta(start) + ".*?)```\n").FindSubmatch(process.ReadFile(t, page))
	if m == nil {
		t.Fatalf("%s lacks a block that starts with %q", page, start)
	}
	return string(m[1])
}

// lint reports what actionlint finds in a workflow of a repository that has the
// action.
func lint(t *testing.T, workflow string) {
	t.Helper()
	process.Tool(t, "shellcheck") // actionlint calls it if it is there
	dir := t.TempDir()
	file := filepath.Join(dir, ".github/workflows/conformance.yml")
	own := filepath.Join(dir, ".github/actions/conformance")
	for _, d := range []string{filepath.Dir(file), own, filepath.Join(dir, ".git")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	process.WriteFile(t, file, []byte(workflow))
	process.WriteFile(t, filepath.Join(own, "action.yml"), process.ReadFile(t, actionFile))
	if code, stdout, stderr := process.Run(t, process.Command(".", "go", "tool", "actionlint", file)); code != 0 {
		t.Errorf("%s\n%s\n%s", stdout, stderr, workflow)
	}
}

// The steps of the action are correct as those of a workflow with the same inputs.
func TestActionLint(t *testing.T) {
	var a struct {
		Inputs map[string]map[string]any
		Runs   struct{ Steps []any }
	}
	readYAML(t, process.ReadFile(t, actionFile), &a)
	for _, input := range a.Inputs {
		input["type"] = "string"
	}
	b, err := yaml.Marshal(map[string]any{
		"on":   map[string]any{"workflow_call": map[string]any{"inputs": a.Inputs}},
		"jobs": map[string]any{"conformance": map[string]any{"runs-on": "ubuntu-latest", "steps": a.Runs.Steps}},
	})
	if err != nil {
		t.Fatal(err)
	}
	lint(t, string(b))
}

// The workflow of this repository is correct.
func TestOwnWorkflow(t *testing.T) {
	lint(t, string(process.ReadFile(t, root+"/.github/workflows/ci.yml")))
}

// The workflow on the page is correct, and uses inputs that the action has.
func TestWorkflow(t *testing.T) {
	lint(t, strings.Replace(block(t, "name: Conformance\n"), "OWNER/REPO/.github/actions/conformance@REF", "./.github/actions/conformance", 1))
}

func TestScript(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "conformance.sh")
	process.WriteFile(t, script, []byte(block(t, "#!/bin/sh\n")))
	if code, stdout, _ := process.Run(t, process.Command(dir, process.Tool(t, "shellcheck"), script)); code != 0 {
		t.Error(stdout)
	}
	server := process.Build(t, "example.com/animalstore/cmd/refserver")
	suite := filepath.Dir(process.Build(t, "example.com/animalstore/cmd/conformance"))
	code, key, stderr := process.Run(t, process.Command(dir, server, "keys", "create", "-keys=keys", "ci"))
	if code != 0 {
		t.Fatal(stderr)
	}
	failing := t.TempDir()
	if err := os.WriteFile(filepath.Join(failing, "conformance"), []byte("#!/bin/sh\necho judged\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	addr := process.FreeAddress()
	serve := []string{server, "-addr=" + addr, "-keys=keys"}
	for i, tt := range []struct {
		name           string
		command        []string
		path, key      string
		code           int
		stdout, stderr string
	}{
		{name: "a conformant server", command: serve, path: suite, key: strings.TrimSpace(key), stdout: "\nconformant: "},
		{name: "a server that refuses the key", command: serve, path: suite, key: "wrong", code: 3, stdout: "does not accept the API key"},
		{name: "a suite that fails", command: serve, path: failing, key: "x", code: 1, stdout: "judged\n"},
		{name: "a server that ends", command: []string{"sh", "-c", "echo no database; exit 5"}, path: suite, key: "x", code: 3, stderr: "the server does not respond at http://" + addr + "/v1:\nno database\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := append([]string{"sh", script, "http://" + addr + "/v1"}, tt.command...)
			cmd := process.Command(dir, append(args, fmt.Sprint("-db=db", i))...)
			cmd.Env = append(cmd.Env, "PETSTORE_API_KEY="+tt.key, "PATH="+tt.path+":"+os.Getenv("PATH"))
			code, stdout, stderr := process.Run(t, cmd)
			if code != tt.code || !strings.Contains(stdout, tt.stdout) || !strings.Contains(stderr, tt.stderr) {
				t.Errorf("code %d, want %d\n%s\n%s", code, tt.code, stdout, stderr)
			}
			if c, err := net.Dial("tcp", addr); err == nil {
				c.Close()
				t.Error("the server was not stopped")
			}
		})
	}
	for _, name := range []string{"conformance.xml", "conformance.json"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("the report %s: %v", name, err)
		}
	}
}
