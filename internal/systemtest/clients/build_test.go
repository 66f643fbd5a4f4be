package clients

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	_ "github.com/oapi-codegen/runtime" // what generated code imports

	"example.com/animalstore/internal/process"
)

// build returns the commands that start the clients. It leaves out those whose tools are
// missing, but not in CI.
func build(t *testing.T) map[string][]string {
	t.Helper()
	run := func(dir string, args ...string) {
		t.Helper()
		if code, stdout, stderr := process.Run(t, process.Command(dir, args...)); code != 0 {
			t.Fatalf("%q: exit code %d\n%s%s", args, code, stdout, stderr)
		}
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}

	// The generated package is compiled from a file outside of its folder.
	source, generated := filepath.Join(here, "testdata/oapicodegen"), t.TempDir()
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(source, "petapi/petapi.go"): filepath.Join(generated, "petapi.go"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	process.WriteFile(t, filepath.Join(generated, "overlay.json"), overlay)
	program := filepath.Join(generated, "oapicodegen")
	run(generated, "go", "-C", source, "tool", "oapi-codegen", "-config=config.yaml", "-o="+generated+"/petapi.go", "../../../../../petstore/httpapi/openapi.json")
	run(generated, "go", "-C", source, "build", "-overlay="+generated+"/overlay.json", "-o="+program, ".")
	commands := map[string][]string{"oapi-codegen": {program}}

	node, err := exec.LookPath("node")
	if _, npmErr := exec.LookPath("npm"); err == nil && npmErr == nil {
		run("npm", "npm", "ci", "--prefer-offline")
		commands["naive"] = []string{node, "npm/naive.mjs"}
		commands["openapi-fetch"] = []string{node, "npm/openapi-fetch.mjs"}
	} else if os.Getenv("CI") == "true" {
		t.Fatal("this needs Node.js 20 and npm")
	}
	if exec.Command("python3", "-c", "import requests, urllib3").Run() == nil {
		commands["requests"] = []string{"python3", "testdata/careful.py"}
	}
	return commands
}
