//go:build linux

package faulttest

import (
	"context"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"example.com/animalstore/internal/etcd"
)

// cluster is a running cluster of three members, each on a machine of its own,
// and some servers. It ends with a test.
type cluster struct {
	t        *testing.T
	dir      string
	members  []*etcd.Member
	machines map[*etcd.Member]*machine
	client   *clientv3.Client
	servers  []*server
	started  int    // servers, also those that are not in servers
	key      string // API key
	loads    []*load
}

// newCluster starts a cluster. args are more flags of etcd.
func newCluster(t *testing.T, servers int, args ...string) *cluster {
	t.Helper()
	dir := t.TempDir()
	c := &cluster{t: t, dir: dir, members: etcd.NewMembers(filepath.Join(bin, "etcd"), dir, 3, args...), machines: map[*etcd.Member]*machine{}}
	for _, m := range c.members {
		x := newMachine(t, "")
		c.machines[m] = x
		m.URL, m.PeerURL = "http://"+x.addr+":2379", "http://"+x.addr+":2380"
		m.Program = append(inNamespaceOf(x.pid), m.Program...)
	}
	etcd.Serve(t, c.members)
	var err error
	if c.client, err = clientv3.New(clientv3.Config{Endpoints: etcd.URLs(c.members), Logger: zap.NewNop()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.client.Close() })
	for _, m := range c.members {
		c.awaitHealth(t, m)
	}
	for range servers {
		c.servers = append(c.servers, c.serve())
	}
	return c
}

// restart starts members that do not run, and waits until they are healthy.
func (c *cluster) restart(t *testing.T, members ...*etcd.Member) {
	t.Helper()
	for _, m := range members {
		if err := m.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range members {
		c.awaitHealth(t, m)
	}
}

// renew stops a member with SIGTERM and starts it again.
func (c *cluster) renew(t *testing.T, m *etcd.Member) {
	t.Helper()
	err := m.Signal(syscall.SIGTERM)
	if err == nil {
		_, err = m.Wait()
	}
	if err != nil {
		t.Fatal(err)
	}
	c.restart(t, m)
}

// healthy returns why a member does not serve a linearizable read, nil if it
// does.
func healthy(t *testing.T, m *etcd.Member) error {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{m.URL}, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err = client.Get(clientv3.WithRequireLeader(ctx), "health")
	return err
}

func (c *cluster) awaitHealth(t *testing.T, m *etcd.Member) {
	t.Helper()
	etcd.Eventually(t, m.Name+"'s health", func() error { return healthy(t, m) })
}

// leader waits until a majority of the members agrees on a leader, and returns
// it.
func (c *cluster) leader(t *testing.T) (leader *etcd.Member) {
	t.Helper()
	etcd.Eventually(t, "a leader", func() error {
		votes, members := map[uint64]int{}, map[uint64]*etcd.Member{}
		for _, m := range c.members {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			status, err := c.client.Status(ctx, m.URL)
			cancel()
			if err == nil {
				votes[status.Leader]++
				members[status.Header.MemberId] = m
			}
		}
		for id, m := range members {
			if votes[id] > len(c.members)/2 {
				leader = m
				return nil
			}
		}
		return fmt.Errorf("votes by member: %v", votes)
	})
	return leader
}

// follower returns a member that does not lead.
func (c *cluster) follower(t *testing.T) *etcd.Member {
	t.Helper()
	if c.leader(t) == c.members[0] {
		return c.members[1]
	}
	return c.members[0]
}
