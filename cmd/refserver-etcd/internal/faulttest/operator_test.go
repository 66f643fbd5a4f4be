//go:build linux

package faulttest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"example.com/animalstore/internal/etcd"
)

// page returns the page for operators.
func page(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../../../docs/cluster.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// documented returns the first commands after words on the page.
func documented(t *testing.T, words string) string {
	t.Helper()
	_, rest, found := strings.Cut(page(t), words)
	_, rest, fenced := strings.Cut(rest, "```sh\n")
	if !found || !fenced {
		t.Fatalf("the page has no commands after %q", words)
	}
	commands, _, _ := strings.Cut(rest, "```")
	return commands
}

// shell runs commands in a directory with the programs in PATH, and returns their
// output. prefix runs the shell.
func shell(t *testing.T, dir string, prefix []string, commands string, env ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", commands)
	if prefix != nil {
		cmd = exec.CommandContext(t.Context(), prefix[0], append(prefix[1:], cmd.Args...)...)
	}
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH")), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %s\n%w\n%s", dir, commands, err, out)
	}
	return string(out), err
}

// operate runs commands as an operator of the cluster would.
func operate(t *testing.T, c *cluster, commands string) (string, error) {
	t.Helper()
	return shell(t, c.dir, nil, commands, "ETCDCTL_ENDPOINTS="+strings.Join(etcd.URLs(c.members), ","), "ETCDCTL_COMMAND_TIMEOUT=120s")
}
