package scenario

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/cmd/refserver-etcd/cluster/local"
)

// documentation is the page for operators.
const documentation = "../../../../docs/cluster.md"

// etcdctlVariable is the environment variable that makes the test binary run as
// etcdctl.
const etcdctlVariable = "SCENARIO_ETCDCTL"

// operate runs commands as an operator would, and returns their output.
func operate(t *testing.T, c *local.Cluster, commands string) string {
	t.Helper()
	out, err := try(t, c, commands)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// try runs commands with sh and etcdctl.
func try(t *testing.T, c *local.Cluster, commands string) (string, error) {
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
		err = fmt.Errorf("%s\n%w\n%s", commands, err, out)
	}
	return string(out), err
}

// documented returns the first block of commands after words in the
// documentation.
func documented(t *testing.T, words string) string {
	t.Helper()
	b, err := os.ReadFile(documentation)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(b), words)
	_, rest, indented := strings.Cut(rest, "\n\n    ")
	if !found || !indented {
		t.Fatalf("%s has no commands after %q", documentation, words)
	}
	block, _, _ := strings.Cut(rest, "\n\n")
	return block
}

// testRestarted restarts members as an upgrade does: one after the other, the
// leader last. Before each it waits until the documented command reports all
// members healthy.
func testRestarted(t *testing.T, c *local.Cluster) {
	health := documented(t, "## Upgrades")
	l := startLoad(c)
	l.progress(t)
	led := leader(t, c)
	order := append(slices.DeleteFunc(slices.Clone(c.Members), func(m *local.Member) bool { return m == led }), led)
	for _, m := range order {
		stopped := time.Now()
		if err := m.Stop(); err != nil {
			t.Fatal(err)
		}
		restart(t, c, m)
		eventually(t, "the health of all members", func() error {
			_, err := try(t, c, health)
			return err
		})
		l.progress(t)
		t.Logf("%s restarted: writes stalled for %v", m.Name(), l.stall(stopped, time.Now()).Round(time.Millisecond))
	}
	l.finish(t)
}
