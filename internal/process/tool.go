package process

import (
	"os"
	"os/exec"
	"testing"
)

// Tool returns the path of a program that a test needs. Where it is not
// installed, the test is skipped, or fails in CI.
func Tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatal(err)
	} else if err != nil {
		t.Skip(err)
	}
	return path
}
