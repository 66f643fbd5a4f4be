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
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"example.com/animalstore/petstore/storage/etcdstore"
)

// The tests use a real member of etcd, in a process of its own. Its server is
// built from the module that depends on it, so that this module and its
// importers do not.
const clusterModule = "../../../cmd/refserver-etcd/cluster"

// endpoint is the member that most tests share, each under its own prefix.
var endpoint string

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
		var stop func()
		if stop, err = startMember(dir, endpoint); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer stop()
		return m.Run()
	}())
}

var binary string

// startMember starts a cluster of one member with that client URL. The member
// ends with the tests, even if they crash.
func startMember(dir, client string, flags ...string) (stop func(), err error) {
	peer := freeURL()
	cmd := exec.Command(binary, append([]string{
		"--name=m", "--data-dir=" + filepath.Join(dir, "data"),
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=m=" + peer, "--log-level=fatal",
		"--unsafe-no-fsync", // no test here cuts the power
	}, flags...)...)
	cmd.Env = append(os.Environ(), "PETSTORE_ROLE=member")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop = func() {
		stdin.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		conn, err := net.Dial("tcp", client[strings.LastIndex(client, "/")+1:])
		if err == nil {
			conn.Close()
			return stop, nil
		}
		if time.Now().After(end) {
			stop()
			return nil, err
		}
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

// newMember starts a cluster of one member for a test.
func newMember(t *testing.T, client string, flags ...string) {
	t.Helper()
	stop, err := startMember(t.TempDir(), client, flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
}

// newClient returns a client of the member that tests share.
func newClient(t *testing.T) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, Logger: zap.NewNop()})
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
	s, err := etcdstore.Open(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
