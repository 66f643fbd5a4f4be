package openapi

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	_ "github.com/oapi-codegen/runtime" // what generated code imports

	"example.com/animalstore/petstore/httpapi"
)

// TestGeneratedGo: oapi-codegen accepts the document without a warning. The
// generated client works with the reference server and with a server on top of
// the generated interface. The program is in testdata/oapicodegen.
func TestGeneratedGo(t *testing.T) {
	dir := t.TempDir()
	root := rootModule(t)
	for _, name := range []string{"client_test.go", "server_test.go", "config.yaml"} {
		copyFile(t, filepath.Join("testdata", "oapicodegen", name), filepath.Join(dir, name), nil)
	}
	copyFile(t, filepath.Join("..", "go.sum"), filepath.Join(dir, "go.sum"), nil)
	copyFile(t, filepath.Join("..", "go.mod"), filepath.Join(dir, "go.mod"), func(b []byte) []byte {
		b = regexp.MustCompile(`(?m)^module .*$`).ReplaceAll(b, []byte("module roundtrip"))
		return regexp.MustCompile(`(?m)^(replace .* => ).*$`).ReplaceAll(b, []byte("${1}"+filepath.ToSlash(root)))
	})
	if err := os.Mkdir(filepath.Join(dir, "petapi"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "openapi.json"), httpapi.OpenAPI(), 0o666); err != nil {
		t.Fatal(err)
	}

	// Download first: the go command prints its downloads, which are not warnings
	// of the tool.
	download := exec.CommandContext(t.Context(), "go", "mod", "download")
	download.Dir = dir
	if out, err := download.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", download, err, out)
	}
	generate := exec.CommandContext(t.Context(), "go", "tool", "oapi-codegen", "-config=config.yaml", "openapi.json")
	generate.Dir = dir
	if out, err := generate.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v: %v\n%s", generate, err, out)
	}

	url, key := startServer(t)
	use := exec.CommandContext(t.Context(), "go", "test", "-v", "-count=1", "./...")
	use.Dir = dir
	use.Env = append(os.Environ(), "ROUNDTRIP_URL="+url, "ROUNDTRIP_KEY="+key)
	out, err := use.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", use, err, out)
	}
	t.Logf("%s", out)
}

// copyFile copies a file, with the change if it is not nil.
func copyFile(t *testing.T, from, to string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		b = change(b)
	}
	if err := os.WriteFile(to, b, 0o666); err != nil {
		t.Fatal(err)
	}
}
