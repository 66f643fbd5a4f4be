package openapi

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	_ "github.com/oapi-codegen/runtime" // what generated code imports

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore/httpapi"
)

// TestGeneratedGo: oapi-codegen accepts the document without a warning. The
// generated client works with the reference server and with a server on top of
// the generated interface. The program is in testdata/oapicodegen.
func TestGeneratedGo(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/oapicodegen")); err != nil {
		t.Fatal(err)
	}
	read := func(path string) []byte {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	mod := regexp.MustCompile(`(?m)^module .*$`).ReplaceAll(read("../go.mod"), []byte("module roundtrip"))
	mod = regexp.MustCompile(`(?m)^(replace .* => ).*$`).ReplaceAll(mod, []byte("${1}"+filepath.ToSlash(rootModule(t))))
	for name, b := range map[string][]byte{"go.mod": mod, "go.sum": read("../go.sum"), "openapi.json": httpapi.OpenAPI()} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	url, key := startServer(t)
	run := func(args ...string) string {
		cmd := process.Command(dir, args...)
		cmd.Env = append(cmd.Env, "ROUNDTRIP_URL="+url, "ROUNDTRIP_KEY="+key)
		code, stdout, stderr := process.Run(t, cmd)
		if code != 0 {
			t.Fatalf("%q: exit code %d\n%s%s", args, code, stdout, stderr)
		}
		return stdout + stderr
	}

	// Download first: the go command prints its downloads, which are not warnings
	// of the tool.
	run("go", "mod", "download")
	if out := run("go", "tool", "oapi-codegen", "-config=config.yaml", "openapi.json"); out != "" {
		t.Fatal(out)
	}
	t.Log(run("go", "test", "-v", "-count=1", "./..."))
}
