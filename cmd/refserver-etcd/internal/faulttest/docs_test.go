//go:build linux

package faulttest

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
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

// shell returns a command that runs commands, with the programs in PATH. prefix
// runs the shell.
func shell(t *testing.T, prefix []string, commands string, env ...string) *exec.Cmd {
	args := append(slices.Clip(prefix), "sh", "-ec", commands)
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Env = append(append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH")), env...)
	return cmd
}

// operate runs commands as an operator of the cluster would.
func operate(t *testing.T, c *cluster, commands string) (string, error) {
	t.Helper()
	out, err := shell(t, nil, commands,
		"ETCDCTL_ENDPOINTS="+strings.Join(etcd.URLs(c.members), ","),
		"ETCDCTL_COMMAND_TIMEOUT=120s").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s\n%w\n%s", commands, err, out)
	}
	return string(out), err
}

func mustOperate(t *testing.T, c *cluster, commands string) string {
	t.Helper()
	out, err := operate(t, c, commands)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
