package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/animalstore/internal/etcd"
	"example.com/animalstore/internal/process"
)

func TestMain(m *testing.M) { os.Exit(process.Main(m)) }

// command returns the program with arguments.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe := process.Build(t, "example.com/animalstore/cmd/refserver-etcd")
	return process.Command(t.TempDir(), append([]string{exe}, args...)...)
}

// newMember starts a cluster of one member, which ends with the test.
func newMember(t *testing.T) *etcd.Member {
	t.Helper()
	members := etcd.NewMembers(process.Build(t, etcd.Command), t.TempDir(), 1)
	etcd.Serve(t, members)
	return members[0]
}

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

// A server that cannot start says why in one line.
func TestStartErrors(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args string
		code int
		want string
	}{
		{"-etcd=127.0.0.1:2379", 1, "-etcd: opening the store in etcd: endpoint \"127.0.0.1:2379\": must be a URL"},
		{"-etcd=http://127.0.0.1:1", 1, "no member of the cluster can be used: http://127.0.0.1:1 does not respond: Error while dialing: dial tcp 127.0.0.1:1: connect: connection refused"},
		{"-etcd=http://127.0.0.1:1,https://127.0.0.1:1", 1, "all must be http or all https"},
		{"-etcd-cert=x", 2, "-etcd-cert and -etcd-key: must be given together"},
		{"-etcd-ca=x", 2, "-etcd-ca and -etcd-cert need https"},
		{"-etcd=https://127.0.0.1:1 -etcd-ca=/nowhere", 1, "-etcd-ca: open /nowhere"},
		{"-etcd=https://127.0.0.1:1 -etcd-ca=" + empty, 1, "holds no certificate"},
		{"-etcd-user=anna", 2, "must be name:password"},
		{"-etcd-password-file=x", 2, "needs -etcd-user"},
		{"-etcd-user=anna -etcd-password-file=/nowhere", 1, "-etcd-password-file: open /nowhere"},
		{"-etcd-user=anna -etcd-password-file=" + empty, 1, "must contain the password"},
	} {
		code, _, stderr := process.Run(t, command(t, append(strings.Fields(tt.args), "-addr=127.0.0.1:0")...))
		if code != tt.code || !strings.Contains(stderr, tt.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: code %d, %q; want %d and one line with %q", tt.args, code, stderr, tt.code, tt.want)
		}
	}
}

// A server whose cluster is replaced by another one ends, without advice about a
// file. Until then it counts the calls to each endpoint.
func TestOtherCluster(t *testing.T) {
	m := newMember(t)
	server := process.Serve(t, command(t, "-addr=127.0.0.1:0", "-admin-addr=127.0.0.1:0", "-new-store", "-etcd="+m.URL))
	vars := server.Must(http.StatusOK, "GET", server.Admin+"/debug/vars", "").Body
	if !strings.Contains(vars, `"endpoints": [{"url":"`+m.URL+`","state":"responds","calls":`) {
		t.Errorf("%s", vars)
	}
	m.Kill()
	m.Dir, m.Args = t.TempDir(), []string{"--initial-cluster-token=other"}
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	if code := server.Wait(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if log := server.Stderr.String(); !strings.Contains(log, m.URL+" leads to another cluster") || strings.Contains(log, "start the server again") {
		t.Errorf("the log is\n%s", log)
	}
}
