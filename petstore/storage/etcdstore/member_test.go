package etcdstore_test

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"example.com/animalstore/internal/etcd"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
)

var (
	binary   string // that runs a member
	endpoint string // the member that most tests share, each under its own prefix
)

// The tests use real members of etcd, in processes of their own. The program is
// built in the module that depends on it, so that this module and its importers
// do not.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "etcdstore-test-*")
	if err != nil {
		log.Fatal(err)
	}
	binary = filepath.Join(dir, "etcd")
	out, err := exec.Command("go", "build", "-C", "../../../cmd/refserver-etcd", "-o", binary, etcd.Command).CombinedOutput()
	if err != nil {
		log.Fatalf("building etcd: %v\n%s", err, out)
	}
	shared := newMembers(dir, 1)[0]
	if err := shared.Start(); err != nil {
		log.Fatal(err)
	}
	endpoint = shared.URL
	code := m.Run()
	shared.Kill()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// newMembers returns the members of a new cluster.
func newMembers(dir string, n int, args ...string) []*etcd.Member {
	return etcd.NewMembers(binary, dir, n, append(args, "--unsafe-no-fsync")...) // no test here cuts the power
}

// newCluster starts a cluster with one member, and returns its URL.
func newCluster(t *testing.T, args ...string) string {
	t.Helper()
	members := newMembers(t.TempDir(), 1, args...)
	etcd.Serve(t, members)
	return members[0].URL
}

// newClient returns a client of a cluster.
func newClient(t *testing.T, c clientv3.Config) *clientv3.Client {
	t.Helper()
	c.Logger = zap.NewNop()
	client, err := clientv3.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// clientOf returns a client of the cluster with those members.
func clientOf(t *testing.T, endpoints ...string) *clientv3.Client {
	t.Helper()
	return newClient(t, clientv3.Config{Endpoints: endpoints})
}

// count returns how many keys with that prefix the cluster has.
func count(t *testing.T, c *clientv3.Client, prefix string) int64 {
	t.Helper()
	resp, err := c.Get(t.Context(), prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		t.Fatal(err)
	}
	return resp.Count
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
	c.RequestTimeout = cmp.Or(c.RequestTimeout, time.Minute) // the machine may be busy
	var s *etcdstore.Store
	etcd.Eventually(t, "the store opens", func() (err error) { // a member may take long to start
		s, err = etcdstore.Open(context.Background(), c)
		return err
	})
	t.Cleanup(func() { s.Close() })
	return s
}

// create adds a pet. key is the key of its Once; "": none.
func create(t *testing.T, s *etcdstore.Store, p petstore.NewPet, key string) petstore.Pet {
	t.Helper()
	pet, err := s.CreatePet(t.Context(), p, petstore.Once{Key: key})
	if err != nil {
		t.Error(err)
	}
	return pet
}
