package scenario

import (
	"errors"
	"testing"
	"time"

	"example.com/animalstore/cmd/refserver-etcd/cluster/local"
)

// TestNetworks cuts real networks: packets are lost, and a member that is cut off
// from the others is also cut off from the servers. TestFaults does the same with
// proxies, which need no root.
func TestNetworks(t *testing.T) {
	survive(t, local.Namespaced, []fault{
		{"member cut off", testCutOff},
		{"leader cut off", testLeaderCutOff},
		{"leader cut off from one", testLeaderCutFromOne},
	})
}

func testCutOff(t *testing.T, c *local.Cluster) {
	m := follower(t, c)
	cut(t, c, m, func(cut bool) error { return c.CutOff(m, cut) })
}

func testLeaderCutOff(t *testing.T, c *local.Cluster) {
	m := leader(t, c)
	cut(t, c, m, func(cut bool) error { return c.CutOff(m, cut) })
}

func testLeaderCutFromOne(t *testing.T, c *local.Cluster) {
	a, b := leader(t, c), follower(t, c)
	cut(t, c, b, func(cut bool) error { return c.Cut(a, b, cut) })
}

// cut cuts a connection with do, waits under load, and restores it. Because of
// the cut the member lacking has no leader, or the leader changes.
func cut(t *testing.T, c *local.Cluster, lacking *local.Member, do func(cut bool) error) {
	t.Helper()
	l := startLoad(c)
	l.progress(t)
	led, start := leader(t, c), time.Now()
	if err := do(true); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the cut", func() error {
		if lacking.Healthy(t.Context()) == nil && leader(t, c) == led {
			return errors.New(lacking.Name() + " still has its leader")
		}
		return nil
	})
	time.Sleep(either(10*time.Second, 3*time.Second))
	l.progress(t)
	if err := do(false); err != nil {
		t.Fatal(err)
	}
	l.progress(t)
	t.Logf("writes stalled for %v", l.stall(start, time.Now()).Round(time.Millisecond))
	eventually(t, "the end of the cut", func() error { return lacking.Healthy(t.Context()) })
	l.finish(t)
}
