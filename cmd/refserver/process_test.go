package main

import (
	"os"
	"os/exec"
	"testing"

	"example.com/animalstore/internal/test/process"
)

// TestMain makes the test binary the server too. The scripts in
// internal/test/systemtest/commands test its commands.
func TestMain(m *testing.M) {
	if os.Getenv("REFSERVER_TEST_RUN") != "" {
		os.Exit(program().Main())
	}
	os.Exit(m.Run())
}

// command returns a command line of the server that has not been started.
func command(dir string, args ...string) *exec.Cmd {
	cmd := process.Command(dir, append([]string{os.Args[0]}, args...)...)
	cmd.Env = append(cmd.Env, "REFSERVER_TEST_RUN=1")
	return cmd
}

// mustRun runs a command that must succeed, and returns its standard output.
func mustRun(t *testing.T, dir string, args ...string) string {
	t.Helper()
	code, stdout, stderr := process.Run(t, command(dir, args...))
	if code != 0 {
		t.Fatalf("refserver %q: exit code %d\n%s", args, code, stderr)
	}
	return stdout
}
