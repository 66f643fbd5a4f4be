package httpapi_test

import (
	"os"
	"strings"
	"testing"
)

// TestREADME makes sure that the README shows the example of embedding as it
// is compiled.
func TestREADME(t *testing.T) {
	source, err := os.ReadFile("example_embed_test.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, body, ok := strings.Cut(string(source), "func run() error {\n")
	body, _, _ = strings.Cut(body, "\n}\n")
	if !ok || !strings.Contains(string(readme), "```go\nfunc run() error {\n"+body+"\n}\n```") {
		t.Errorf("README.md does not have the example:\n%s", body)
	}
}
