package main

import (
	"os/exec"
	"strings"
	"testing"
)

// The trial cluster and the tests are in the same module as the server. What
// they need must not get into its binary.
func TestDependencies(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range strings.Lines(string(out)) {
		for _, heavy := range []string{"go.etcd.io/etcd/server/", "go.etcd.io/etcd/etcdctl/", "go.etcd.io/etcd/etcdutl/", "github.com/anishathalye/", "testing\n"} {
			if strings.HasPrefix(pkg, heavy) {
				t.Errorf("the server links %s", pkg)
			}
		}
	}
}
