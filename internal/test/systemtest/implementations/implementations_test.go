// Package implementations runs the conformance suite against small servers on common
// frameworks. They are in conformance/testdata/implementations, and
// docs/conformance.md has the results.
package implementations

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/animalstore/internal/test/process"
)

var update = flag.Bool("update", false, "write the figures in docs/conformance.md")

const (
	folder   = "../../../../conformance/testdata/implementations"
	document = "../../../../petstore/httpapi/openapi.json"
	page     = "../../../../docs/conformance.md"
	key      = "key-of-the-implementations"
)

// implementation is a server.
type implementation struct {
	name, file string   // as in the table
	command    []string // without its last arguments, --port and a port
	finds      []string // parts of the report: what the framework gets wrong by default
}

// implementations are the servers. Programs in /usr/bin come with Debian's packages.
var implementations = []implementation{
	{name: "Express", file: "express.mjs", command: []string{"node", "express.mjs"}, finds: []string{"9007199254740992, want 9007199254740993", "bytes that are not UTF-8"}},
	{name: "FastAPI", file: "fastapi_app.py", command: []string{"/usr/bin/uvicorn", "fastapi_app:app"}, finds: []string{"NaN in a further member", "an unpaired surrogate as the name", "want 200 OK; the request before it has an unpaired surrogate as the name"}},
	{name: "oapi-codegen", file: "oapi-codegen/main.go"}, // the test builds the command
}

func TestMain(m *testing.M) { os.Exit(process.Main(m)) }

// TestImplementations runs the suite against each server. The table must be right.
func TestImplementations(t *testing.T) {
	suite := process.Build(t, "example.com/animalstore/cmd/conformance")
	for _, impl := range implementations {
		t.Run(impl.name, func(t *testing.T) {
			if impl.name == "Express" {
				run(t, folder, process.Tool(t, "npm"), "ci", "--prefer-offline")
			}
			if impl.command == nil {
				impl.command = []string{generate(t)}
			}
			process.Tool(t, impl.command[0])
			impl.compare(t, impl.judge(t, suite))
		})
	}
}

// report is what the test needs of a report of the suite.
type report struct {
	Outcome string
	Counts  struct{ Fail int }
}

// judge starts the server and runs the suite.
func (impl *implementation) judge(t *testing.T, suite string) *report {
	t.Helper()
	addr := process.FreeAddress()
	_, port, _ := net.SplitHostPort(addr)
	cmd := process.Command(folder, append(slices.Clone(impl.command), "--port", port)...)
	cmd.Env = append(cmd.Env, "API_KEY="+key)
	server, err := process.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Kill()
	url := "http://" + addr + "/v1"
	if err := server.Until("it responds", func() bool {
		resp, err := http.Get(url + "/pets")
		if err == nil {
			_ = resp.Body.Close()
		}
		return err == nil
	}); err != nil {
		t.Fatal(err)
	}

	file := filepath.Join(t.TempDir(), "report.json")
	cmd = process.Command("", suite, "run", "-url="+url, "-timeout=1m", "-json="+file)
	cmd.Env = append(cmd.Env, "PETSTORE_API_KEY="+key)
	out, _ := cmd.CombinedOutput() // the exit code is not 0 if the server does not conform
	t.Logf("%s", out)
	for _, part := range impl.finds {
		if !strings.Contains(string(out), part) {
			t.Errorf("the report does not have %q", part)
		}
	}
	if !server.Running() {
		t.Fatalf("the server has ended:\n%s", server.Tail())
	}
	r := new(report)
	if err := json.Unmarshal(process.ReadFile(t, file), r); err != nil {
		t.Fatal(err)
	}
	return r
}

// generate builds the server on the code that oapi-codegen generates and returns
// its path.
func generate(t *testing.T) string {
	t.Helper()
	source, dir := filepath.Join(folder, "oapi-codegen"), t.TempDir()
	process.WriteFile(t, filepath.Join(dir, "main.go"), process.ReadFile(t, filepath.Join(source, "main.go")))
	run(t, "", "go", "tool", "oapi-codegen", "-config="+filepath.Join(source, "config.yaml"), "-o="+filepath.Join(dir, "petapi.go"), document)
	run(t, "", "go", "build", "-o="+filepath.Join(dir, "server"), filepath.Join(dir, "main.go"), filepath.Join(dir, "petapi.go"))
	return filepath.Join(dir, "server")
}

// compare checks the figure of a run in the table, or writes it.
func (impl *implementation) compare(t *testing.T, r *report) {
	t.Helper()
	start := fmt.Sprintf("\n| [%s](../conformance/testdata/implementations/%s) |", impl.name, impl.file)
	row := fmt.Sprintf("%s %d |", start, r.Counts.Fail)
	text := string(process.ReadFile(t, page))
	if *update {
		old := regexp.MustCompile(regexp.QuoteMeta(start) + ` \d+ \|`)
		text = old.ReplaceAllLiteralString(text, row)
		process.WriteFile(t, page, []byte(text))
	}
	if r.Outcome != "not conformant" || !strings.Contains(text, row) {
		t.Errorf("%s, and docs/conformance.md does not have %s; go test ./implementations -update writes it", r.Outcome, row)
	}
}

// run runs a command, which must succeed.
func run(t *testing.T, dir string, args ...string) {
	t.Helper()
	if out, err := process.Command(dir, args...).CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
}
