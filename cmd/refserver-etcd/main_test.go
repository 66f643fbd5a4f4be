package main

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/conformancetest"
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

// startServers starts two servers with the same keys.
func startServers(t *testing.T, m *etcd.Member) (servers []*process.Server) {
	t.Helper()
	dir := t.TempDir() // in which the first creates the key file
	for range 2 {
		cmd := command(t, "-addr=127.0.0.1:0", "-admin-addr=127.0.0.1:0", "-new-store", "-etcd="+m.URL)
		cmd.Dir = dir
		servers = append(servers, process.Serve(t, cmd))
	}
	key, err := servers[0].Process.Key()
	if err != nil {
		t.Fatal(err)
	}
	servers[0].Key, servers[1].Key = key, key
	return servers
}

// The trial cluster and the tests are in the same module as the server. What
// they need must not get into its binary.
func TestDependencies(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, heavy := range []string{"go.etcd.io/etcd/server/", "go.etcd.io/etcd/etcdctl/", "go.etcd.io/etcd/etcdutl/", "github.com/anishathalye/", "testing\n"} {
		if strings.Contains("\n"+string(out), "\n"+heavy) {
			t.Errorf("the server links %s", heavy)
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
		{"-etcd=https://127.0.0.1:1 -etcd-ca=/nowhere", 1, "-etcd-ca, -etcd-cert, -etcd-key: open /nowhere"},
		{"-etcd=https://127.0.0.1:1 -etcd-ca=" + empty, 1, "holds no certificate"},
		{"-etcd-user=anna", 1, "user and password: must be given together"},
		{"-etcd-user=anna -etcd-password-file=/nowhere", 1, "-etcd-password-file: open /nowhere"},
		{"-etcd-user=anna -etcd-password-file=" + empty, 1, "must contain the password"},
	} {
		code, _, stderr := process.Run(t, command(t, append(strings.Fields(tt.args), "-addr=127.0.0.1:0")...))
		if code != tt.code || !strings.Contains(stderr, tt.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: code %d, %q; want %d and one line with %q", tt.args, code, stderr, tt.code, tt.want)
		}
	}
}

// A server is conformant, and so is a balancer that sends the requests to two
// servers in turn.
func TestConformance(t *testing.T) {
	servers := startServers(t, newMember(t))
	var next atomic.Int64
	balancer := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		s := servers[int(next.Add(1))%len(servers)]
		r.SetURL(&url.URL{Scheme: "http", Host: s.Host()})
		r.Out.Host = r.In.Host
	}})
	defer balancer.Close()
	for name, url := range map[string]string{"server": servers[0].URL, "balancer": balancer.URL + "/v1"} {
		t.Run(name, func(t *testing.T) {
			opts := &conformance.Options{Timeout: process.Patience} // the machine may be busy
			conformancetest.Run(t, conformance.Target{URL: url, MessagesURL: url, Key: servers[0].Key}, opts)
		})
	}
}

// A server whose cluster is replaced by another one ends, without advice about a
// file. Until then it counts the calls to each endpoint. It writes nothing into the
// other cluster, whether it has created pets before or not.
func TestOtherCluster(t *testing.T) {
	m := newMember(t)
	servers := startServers(t, m)
	add := func(s *process.Server) (process.Response, error) {
		return s.Send("POST", "/pets", `{"name":"Rex","categoryId":4}`)
	}
	if r, err := add(servers[0]); err != nil || r.Status != http.StatusCreated {
		t.Fatalf("%+v, %v", r, err)
	}
	label := `{endpoint="` + m.URL + `"}`
	for name, least := range map[string]float64{
		"petstore_pets": 1, "petstore_commit_duration_seconds_count": 1, "petstore_committed_changes_total": 1, "petstore_endpoint_up" + label: 1,
		"petstore_endpoint_request_duration_seconds_count" + label: 2, "petstore_endpoint_requests_failed_total" + label: 0,
	} {
		if got := servers[0].Metric(name); got < least {
			t.Errorf("%s is %v, want at least %v", name, got, least)
		}
	}
	m.Kill()
	var wg sync.WaitGroup
	for _, s := range servers {
		wg.Go(func() {
			for s.Running() {
				if r, err := add(s); err == nil && r.Status == http.StatusCreated {
					t.Error("the other cluster accepted a creation")
				}
			}
		})
	}
	m.Dir, m.Args = t.TempDir(), []string{"--initial-cluster-token=other"}
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	for _, s := range servers {
		if code := s.Wait(); code != 1 {
			t.Errorf("exit code %d", code)
		}
		if log := s.Stderr.String(); !strings.Contains(log, m.URL+" leads to another cluster") || strings.Contains(log, "start the server again") {
			t.Errorf("the log is\n%s", log)
		}
	}
	wg.Wait()
	all := servers[0].Must(http.StatusOK, "POST", m.URL+"/v3/kv/range", `{"key":"AA==","range_end":"AA=="}`).Body
	if strings.Contains(all, "kvs") {
		t.Errorf("the other cluster holds %s", all)
	}
}
