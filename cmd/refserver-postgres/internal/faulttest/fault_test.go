//go:build linux

// Package faulttest tests what servers do whose PostgreSQL fails: a Patroni cluster
// of three nodes with two servers in front of it, all real processes, which are
// killed, stopped and replaced under load.
//
// Without flags it kills a primary once. .ci/long runs all faults:
//
//	go test -v -timeout 1h ./internal/faulttest -args -full
package faulttest

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"syscall"
	"testing"
	"time"

	"example.com/animalstore/internal/postgres"
	"example.com/animalstore/internal/process"
)

type fault struct {
	name   string
	rounds int
	cause  func(*testing.T, *cluster, *load)
}

// faults are those during which the history of some clients must be linearizable.
var faults = []fault{
	{"primary killed", 5, killPrimary},
	{"primary hangs", 3, hangPrimary},
	{"PostgreSQL of the primary killed", 3, killPostmaster},
	{"switchover", 5, switchOver},
	{"both standbys killed", 2, killStandbys},
	{"disk of a standby wiped", 2, wipeStandby},
	{"servers killed", 5, killServers},
}

// split is the fault after which two primaries run. A server that only reads may then
// read from the old one, for a second.
var split = fault{"Patroni of the primary killed: two primaries", 5, killPatroni}

// TestFaults causes faults in one cluster, one after the other, until a test fails.
// Each has a load of its own. At the end everything that was acknowledged must still
// be there.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	c := newCluster(t, "ttl: 20", "loop_wait: 5", "retry_timeout: 5")
	if !*full {
		faults[0].rounds = 1
		cause(t, c, faults[:1])
		return
	}
	h := startHistory(t, c)
	cause(t, c, faults)
	h.end(t)
	cause(t, c, []fault{split})
	check(t, c, 0, c.loads...)
}

func cause(t *testing.T, c *cluster, faults []fault) {
	for _, f := range faults {
		passed := t.Run(f.name, func(t *testing.T) {
			l := startLoad(c)
			l.progress(t)
			for range f.rounds {
				f.cause(t, c, l)
				l.progress(t)
			}
			l.finish(t, fmt.Sprintf("%s, %d times", f.name, f.rounds))
		})
		if !passed {
			t.FailNow()
		}
	}
}

// killPrimary loses the machine of the primary, which comes back later.
func killPrimary(t *testing.T, c *cluster, l *load) {
	n := c.node(t, postgres.Leader)
	n.KillAll()
	l.progress(t)
	start(t, c, n)
}

func start(t *testing.T, c *cluster, nodes ...*postgres.Node) {
	t.Helper()
	for _, n := range nodes {
		if err := n.Start(); err != nil {
			t.Fatal(err)
		}
	}
	c.ready(t)
}

// killPostmaster kills the primary's PostgreSQL, which Patroni starts again.
func killPostmaster(t *testing.T, c *cluster, l *load) {
	pid, err := c.node(t, postgres.Leader).Postmaster()
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil {
		t.Fatal(err)
	}
	l.progress(t)
	c.ready(t)
}

// killPatroni kills the Patroni of the primary, whose PostgreSQL goes on. After a
// failover there are two primaries, until Patroni runs again.
func killPatroni(t *testing.T, c *cluster, l *load) {
	old := c.node(t, postgres.Leader)
	old.Kill()
	process.Eventually(t, "another primary", func() error {
		n, err := c.Node(postgres.Leader)
		if err == nil && n == old {
			err = errors.New("still the same")
		}
		return err
	})
	l.progress(t)
	time.Sleep(5 * time.Second)
	l.progress(t)
	start(t, c, old)
}

// hangPrimary stops all processes of the primary, whose machine still accepts
// connections, until there is another one. Then it loses the machine.
func hangPrimary(t *testing.T, c *cluster, l *load) {
	n := c.node(t, postgres.Leader)
	for _, pid := range n.Pids() {
		_ = syscall.Kill(pid, syscall.SIGSTOP) // it may have ended
	}
	l.progress(t)
	n.KillAll()
	start(t, c, n)
}

func switchOver(t *testing.T, c *cluster, l *load) {
	process.Eventually(t, "a switchover", c.Switchover)
	l.progress(t)
	c.ready(t)
}

// killStandbys leaves only the primary. Creates then wait, and reads go on.
func killStandbys(t *testing.T, c *cluster, l *load) {
	leader := c.node(t, postgres.Leader)
	var standbys []*postgres.Node
	for _, n := range c.Nodes {
		if n != leader {
			n.KillAll()
			standbys = append(standbys, n)
		}
	}
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if r, err := c.servers[0].Send("GET", "/pets/1", ""); err != nil || r.Status != http.StatusOK {
			t.Fatalf("a read without standbys: %d %s (%v)", r.Status, r.Body, err)
		}
	}
	start(t, c, standbys...)
}

func wipeStandby(t *testing.T, c *cluster, l *load) {
	n := c.node(t, postgres.Synchronous)
	n.KillAll()
	if err := os.RemoveAll(n.Data); err != nil {
		t.Fatal(err)
	}
	start(t, c, n)
}

// killServers kills one server, and starts it again.
func killServers(t *testing.T, c *cluster, l *load) {
	for _, s := range c.servers {
		s.Kill()
		l.progress(t)
		s.restart()
	}
}
