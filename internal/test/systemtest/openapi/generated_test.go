package openapi

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "github.com/oapi-codegen/runtime" // what generated code imports

	"example.com/animalstore/internal/test/process"
)

func TestMain(m *testing.M) { os.Exit(process.Main(m)) }

const document = "petstore/httpapi/openapi.json" // below the root of the project

// wantResponses is what the generated clients print.
const wantResponses = `[
	201, {"id":1,"name":"Bella","categoryId":1,"status":"available"}, "pets/1",
	201, {"id":1,"name":"Bella","categoryId":1,"status":"available"}, "pets/1",
	[{"id":1,"name":"Bella","categoryId":1,"status":"available"}], [{"id":2,"name":"Tom","categoryId":2}], null,
	[],
	"available", "Thu, 05 Dec 2030 00:00:00 GMT",
	404, {"code":"not_found","message":"there is no pet with this id","status":404},
	202, "msg_1", "Hello!", "queued",
	"unauthorized",
	{"code":"invalid","message":"status: must be one of available, pending, sold","status":400}
]`

// TestGenerated: generators accept the document without a warning, and both generated
// clients get the expected responses from the reference server.
func TestGenerated(t *testing.T) {
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, generate := range map[string]func(t *testing.T, root string) []string{
		"oapi-codegen": generateGo, "openapi-typescript": generateTypeScript,
	} {
		t.Run(name, func(t *testing.T) {
			client := generate(t, root)
			exe := process.Build(t, "example.com/animalstore/cmd/refserver")
			s := process.Serve(t, process.Command(t.TempDir(), exe, "-addr=127.0.0.1:0"))
			cmd := process.Command("npm", client...)
			cmd.Env = append(cmd.Env, "PETSTORE_URL="+s.URL, "PETSTORE_KEY="+s.Key)
			code, stdout, stderr := process.Run(t, cmd)
			if code != 0 {
				t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
			}
			var want, got any
			if err := json.Unmarshal([]byte(wantResponses), &want); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(stdout), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("responses (-want +got):\n%s", diff)
			}
		})
	}
}

// run runs a tool in a folder and returns its output.
func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	code, stdout, stderr := process.Run(t, process.Command(dir, args...))
	if code != 0 {
		t.Fatalf("%q: exit code %d\n%s%s", args, code, stdout, stderr)
	}
	return stdout + stderr
}

// generateGo compiles testdata/oapicodegen and returns the command that starts it.
func generateGo(t *testing.T, root string) []string {
	const source = "testdata/oapicodegen/"
	dir := t.TempDir()
	process.WriteFile(t, dir+"/main.go", process.ReadFile(t, source+"main.go"))
	run(t, "", "go", "mod", "download") // which prints more than warnings
	if out := run(t, "", "go", "tool", "oapi-codegen", "-config="+source+"config.yaml", "-o="+dir+"/petapi.go", filepath.Join(root, document)); out != "" {
		t.Errorf("oapi-codegen: %s", out)
	}
	run(t, "", "go", "build", "-o="+dir+"/client", dir+"/main.go", dir+"/petapi.go")
	return []string{dir + "/client"}
}

// generateTypeScript compiles npm/roundtrip.ts and returns the command that starts it.
// openapi-typescript checks the document with the rules in npm/redocly.yaml.
func generateTypeScript(t *testing.T, root string) []string {
	node := process.Tool(t, "node")
	run(t, "npm", process.Tool(t, "npm"), "ci", "--prefer-offline")
	dir, err := os.MkdirTemp("npm", ".build-") // where the program finds openapi-fetch
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	process.WriteFile(t, filepath.Join(dir, "roundtrip.ts"), process.ReadFile(t, "npm/roundtrip.ts"))
	build := filepath.Base(dir)
	bin := "node_modules/.bin/"
	out := run(t, "npm", bin+"openapi-typescript", filepath.Join(root, document), "--redocly=redocly.yaml", "--output="+build+"/petstore.d.ts")
	if strings.Contains(strings.ToLower(out), "warn") || strings.Contains(out, "⚠") {
		t.Errorf("openapi-typescript: %s", out)
	}
	run(t, "npm", bin+"tsc", "--strict", "--noUncheckedIndexedAccess", "--target", "es2022", "--module", "nodenext", build+"/roundtrip.ts")
	return []string{node, build + "/roundtrip.js"}
}
