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
	var inFunction strings.Builder
	for line := range strings.Lines(code) {
		if line != "\n" {
			inFunction.WriteByte('\t')
		}
		inFunction.WriteString(line)
	}
	if !found || !strings.Contains(string(example), inFunction.String()) {
		t.Errorf("README.md must show a part of examples/nethttp/main.go, and has:\n%s", code)
	}
}
