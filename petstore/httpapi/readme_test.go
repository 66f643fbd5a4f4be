package httpapi_test

import (
	"os"
	"strings"
	"testing"
)

// TestREADME: the Go code of the README is part of examples/nethttp.
func TestREADME(t *testing.T) {
	example, err := os.ReadFile("../../examples/nethttp/main.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, code, found := strings.Cut(string(readme), "```go\n")
	code, _, _ = strings.Cut(code, "```")
	if !found || !strings.Contains(strings.ReplaceAll(string(example), "\n\t", "\n"), code) {
		t.Errorf("README.md must show a part of examples/nethttp/main.go, and has:\n%s", code)
	}
}
