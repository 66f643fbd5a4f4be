package etcdstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// The tests use real members of etcd, in processes of their own. The server is
// built from the module that depends on it, so that this module and its
// importers do not.
const clusterModule = "../../../cmd/refserver-etcd/internal/etcd"

var (
	binary   string // that runs a member
	endpoint string // the member that most tests share, each under its own prefix
)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "etcdstore-test-*")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "cluster")
		out, err := exec.Command("go", "build", "-C", clusterModule, "-o", binary, ".").CombinedOutput()
		if err != nil {
			fmt.Fprintf(os.Stderr, "building the server: %v\n%s", err, out)
			return 1
		}
		endpoint = freeURL()
		members, err := startCluster(dir, []string{endpoint})
		defer kill(members)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// startCluster starts a cluster with one member for each client URL. The members
// end with the tests, even if they crash.
func startCluster(dir string, clients []string, flags ...string) (members []*process.Process, err error) {
	var initial, peers []string
	for i := range clients {
		peers = append(peers, freeURL())
		initial = append(initial, fmt.Sprintf("m%d=%s", i, peers[i]))
	}
	for i, client := range clients {
		cmd := exec.Command(binary, append([]string{
			fmt.Sprintf("--name=m%d", i), "--data-dir=" + filepath.Join(dir, fmt.Sprint("data", i)),
			"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
			"--listen-peer-urls=" + peers[i], "--initial-advertise-peer-urls=" + peers[i],
			"--initial-cluster=" + strings.Join(initial, ","), "--log-level=fatal",
			"--initial-cluster-token=" + clients[0],
			"--unsafe-no-fsync", // no test here cuts the power
		}, flags...)...)
		cmd.Env = process.Environ()
		if _, err := cmd.StdinPipe(); err != nil { // it ends with this process
			return members, err
		}
		m, err := process.Start(cmd)
		if err != nil {
			return members, err
		}
		members = append(members, m)
	}
	for i, m := range members {
		if err := m.Until("it accepts connections", func() bool {
			conn, err := net.Dial("tcp", clients[i][strings.LastIndex(clients[i], "/")+1:])
			if err == nil {
				conn.Close()
			}
			return err == nil
		}); err != nil {
			return members, err
		}
	}
	return members, nil
}

func kill(members []*process.Process) {
	for _, m := range members {
		m.Kill()
	}
}

// freeURL returns a loopback URL with a free port, which is not one of those
// that the system assigns to outgoing connections.
func freeURL() string {
	for {
		addr := fmt.Sprintf("127.0.0.1:%d", 20_000+rand.IntN(12_000))
		if ln, err := net.Listen("tcp", addr); err == nil {
			ln.Close()
			return "http://" + addr
		}
	}
}

// newCluster starts a cluster for a test.
func newCluster(t *testing.T, clients []string, flags ...string) []*process.Process {
	t.Helper()
	members, err := startCluster(t.TempDir(), clients, flags...)
	t.Cleanup(func() { kill(members) })
	if err != nil {
		t.Fatal(err)
	}
	return members
}

// newClient returns a client of a cluster.
func newClient(t *testing.T, endpoints ...string) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: endpoints, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// newPrefix returns an unused prefix.
func newPrefix(t *testing.T) string {
	return fmt.Sprintf("%s/%d/", t.Name(), rand.Int64())
}

// open opens a store that is closed with the test.
func open(t *testing.T, c etcdstore.Config) *etcdstore.Store {
	t.Helper()
	if c.Endpoints == nil {
		c.Endpoints = []string{endpoint}
	}
	c.NewStore = true
	s, err := etcdstore.Open(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
