package ci

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

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

// The workflow on the page is correct, and uses inputs that the action has.
func TestWorkflow(t *testing.T) {
	process.Tool(t, "shellcheck") // actionlint calls it if it is there
	dir := t.TempDir()
	for name, text := range map[string]string{
		".git/x":                                 "", // actionlint looks for the root of the repository
		".github/workflows/conformance.yml":      strings.Replace(block(t, "name: Conformance\n"), "OWNER/REPO/.github/actions/conformance@REF", "./.github/actions/conformance", 1),
		".github/actions/conformance/action.yml": string(process.ReadFile(t, actionFile)),
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		process.WriteFile(t, filepath.Join(dir, name), []byte(text))
	}
	if code, stdout, stderr := process.Run(t, process.Command(".", "go", "tool", "actionlint", filepath.Join(dir, ".github/workflows/conformance.yml"))); code != 0 {
		t.Errorf("%s\n%s", stdout, stderr)
	}
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
