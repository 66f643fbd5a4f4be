package scenario

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/animalstore/cmd/refserver-etcd/cluster/local"
)

// documentation is what an operator goes by.
const documentation = "../../../../docs/cluster.md"

// etcdctlVariable is the environment variable that makes the test binary
// etcdctl.
const etcdctlVariable = "SCENARIO_ETCDCTL"

// operate runs commands with sh, as an operator who has etcdctl would, and
// returns what they write.
func operate(t *testing.T, c *local.Cluster, commands string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\n%s=1 exec '%s' \"$@\"\n", etcdctlVariable, exe)
	if err := os.WriteFile(filepath.Join(bin, "etcdctl"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", commands)
	cmd.Env = append(os.Environ(),
		"PATH="+bin+":"+os.Getenv("PATH"),
		"ETCDCTL_ENDPOINTS="+strings.Join(c.Endpoints(), ","),
		"ETCDCTL_COMMAND_TIMEOUT=60s")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s\n%v\n%s", commands, err, out)
	}
	return string(out)
}

// documented returns the first block of commands in the documentation behind
// some words.
func documented(t *testing.T, words string) string {
	t.Helper()
	b, err := os.ReadFile(documentation)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(b), words)
	_, rest, indented := strings.Cut(rest, "\n\n    ")
	if !found || !indented {
		t.Fatalf("%s has no commands behind %q", documentation, words)
	}
	block, _, _ := strings.Cut(rest, "\n\n")
	return block
}
