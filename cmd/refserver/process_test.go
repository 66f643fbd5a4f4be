package main

import (
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"

	"example.com/animalstore/internal/process"
)

// TestMain makes the test binary the server too, so that the tests run it as a
// process with files, sockets, signals and an exit code.
func TestMain(m *testing.M) {
	if os.Getenv("REFSERVER_TEST_RUN") != "" {
		os.Exit(program().Main())
	}
	flag.Parse()
	_ = flag.Set("test.parallel", "8") // the tests spend their time waiting
	os.Exit(m.Run())
}

// command returns a command line of the server that has not been started.
func command(dir string, args ...string) *exec.Cmd {
	cmd := process.Command(dir, append([]string{os.Args[0]}, args...)...)
	cmd.Env = append(cmd.Env, "REFSERVER_TEST_RUN=1", "PETSTORE_ADDR=127.0.0.1:0")
	return cmd
}

// oneLine checks that standard error is one line that has the parts.
func oneLine(t *testing.T, stderr string, parts ...string) {
	t.Helper()
	if strings.Count(stderr, "\n") != 1 || !strings.HasSuffix(stderr, "\n") {
		t.Errorf("standard error is not one line:\n%s", stderr)
	}
	for _, p := range append(parts, "refserver: ") {
		if !strings.Contains(stderr, p) {
			t.Errorf("standard error %q lacks %q", stderr, p)
		}
	}
}
