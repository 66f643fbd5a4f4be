package conformance_test

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"

	"example.com/animalstore/conformance"
)

// newNode starts the implementation in testdata/node-server.
func newNode(t *testing.T) conformance.Target {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("node is not installed")
		}
		t.Skip("node is not installed")
	}
	const key = "node-test-4Jw8sTqPzYk"
	cmd := exec.Command(node, "testdata/node-server/server.mjs", key)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close() // ends the process
		if err := cmd.Wait(); err != nil {
			t.Errorf("node: %v", err)
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSpace(line)
	return conformance.Target{URL: url, MessagesURL: url, Key: key}
}

// TestNode judges an implementation in another language. It has another order of
// lists, ids beyond 2^53, and chunked responses with white space.
func TestNode(t *testing.T) {
	r, err := conformance.Run(t.Context(), newNode(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome != conformance.Conformant || r.Counts.Warn > 0 || r.Counts.Inconclusive > 0 {
		t.Errorf("%s\n%s", r.Headline(), text(r))
	}
}
