//go:build linux

package faulttest

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/internal/etcd"
	"example.com/animalstore/internal/process"
)

// TestFaults causes faults in one cluster, one after the other, until a test
// fails. Each has a load of its own. At the end everything that was acknowledged
// must still be there, and the history of some clients must be linearizable.
func TestFaults(t *testing.T) {
	c := newCluster(t, 3)
	h := startHistory(c, either(250*time.Millisecond, 100*time.Millisecond)) // few enough operations to be checked
	leader, follower := (*cluster).leader, (*cluster).follower
	for _, f := range []struct {
		name  string
		cause func(*testing.T, *cluster, *load)
	}{
		{"leader killed", killLeader},
		{"leader paused", disturb(leader, (*cluster).pause)},
		{"member paused", disturb(follower, (*cluster).pause)},
		{"leader cut off", disturb(leader, (*cluster).pull)},
		{"member cut off", disturb(follower, (*cluster).pull)},
		{"leader cut off from members", disturb(leader, (*cluster).separate)},
		{"member cut off from members", disturb(follower, (*cluster).separate)},
		{"member cut off from leader", disturb(follower, func(c *cluster, m *etcd.Member) error { return c.cut(m, c.leader(c.t)) })},
		{"all killed", killAll},
		{"disk wiped", wipe},
		{"no quorum", loseQuorum},
		{"members restarted", restartMembers},
		{"no room until keys are deleted", fill(true)},
		{"no room until the quota is raised", fill(false)},
		{"servers killed", endServers((*server).Kill, false)},
		{"servers drained", endServers((*server).Stop, true)},
	} {
		passed := t.Run(f.name, func(t *testing.T) {
			l := startLoad(c, writers, c.servers...)
			l.progress(t)
			f.cause(t, c, l)
			l.progress(t)
			l.finish(t)
		})
		if !passed {
			return
		}
	}
	checkLoads(t, c, 0, c.loads...)
	h.end(t)
}

func killLeader(t *testing.T, c *cluster, l *load) {
	var stalls []time.Duration
	for range either(20, 3) {
		m, killed := c.leader(t), time.Now()
		m.Kill()
		l.progress(t)
		stalls = append(stalls, l.stall(killed))
		c.restart(t, m)
	}
	slices.Sort(stalls)
	t.Logf("leader killed %d times: writes stalled for %v (median), %v (worst)", len(stalls), stalls[len(stalls)/2], stalls[len(stalls)-1])
}

// disturb disturbs a member, waits under load, and restores it. Because of the
// fault the member has no leader, or the leader changes.
func disturb(pick func(*cluster, *testing.T) *etcd.Member, begin func(*cluster, *etcd.Member) error) func(*testing.T, *cluster, *load) {
	return func(t *testing.T, c *cluster, l *load) {
		leader, m, start := c.leader(t), pick(c, t), time.Now()
		if err := begin(c, m); err != nil {
			t.Fatal(err)
		}
		etcd.Eventually(t, "the fault", func() error {
			if healthy(t, m) == nil && c.leader(t) == leader {
				return errors.New(m.Name + " still has its leader")
			}
			return nil
		})
		time.Sleep(either(10*time.Second, 3*time.Second))
		l.progress(t)
		if err := c.restore(); err != nil {
			t.Fatal(err)
		}
		l.progress(t)
		t.Logf("writes stalled for %v", l.stall(start))
		c.awaitHealth(t, m)
	}
}

func killAll(t *testing.T, c *cluster, _ *load) {
	for _, m := range c.members {
		m.Kill()
	}
	c.restart(t, c.members...)
}

// wipe replaces a member that has lost its disk with the documented commands.
func wipe(t *testing.T, c *cluster, l *load) {
	m := c.follower(t)
	m.Kill()
	if err := os.RemoveAll(m.Dir); err != nil {
		t.Fatal(err)
	}
	commands := strings.NewReplacer(", a, ", ", "+m.Name+", ", "add a ", "add "+m.Name+" ", "https://10.0.0.1:2380", m.PeerURL).
		Replace(documented(t, "*A lost disk.*"))
	for line := range strings.Lines(commands) {
		// The cluster refuses a change until its members have been connected
		// for some seconds.
		etcd.Eventually(t, "the change of the members", func() error {
			_, err := operate(t, c, line)
			return err
		})
	}
	m.Args = append(slices.Clip(m.Args), "--initial-cluster-state=existing")
	c.restart(t, m)
	// The new member has all data if the cluster goes on without another one.
	for _, other := range c.members {
		if other != m && other != c.leader(t) {
			other.Kill()
			l.progress(t)
			c.restart(t, other)
		}
	}
}

// loseQuorum kills two members. A server must then refuse reads, and must not
// collect goroutines.
func loseQuorum(t *testing.T, c *cluster, l *load) {
	s := c.servers[0]
	goroutines := func() int { return int(s.Metric("go_goroutines")) }
	before := goroutines()
	for _, m := range c.members[:2] {
		m.Kill()
	}
	most, worst, count, start := 0, time.Duration(0), 0, time.Now()
	enough, limit := either(20*time.Second, 0), process.Patience
	for since := time.Duration(0); since < enough || count == 0 && since < limit; since = time.Since(start) {
		sent := time.Now()
		r, err := s.Send("GET", "/pets", "")
		worst = max(worst, time.Since(sent))
		if err != nil {
			t.Errorf("without a quorum: %v", err)
		} else if r.Status == http.StatusServiceUnavailable {
			count++
			if r.Header.Get("Retry-After") == "" {
				t.Errorf("503 without Retry-After: %s", r.Body)
			}
		}
		most = max(most, goroutines())
	}
	if count == 0 {
		t.Error("no read was refused")
	}
	if most > before+4*writers+50 {
		t.Errorf("%d goroutines without a quorum, %d before", most, before)
	}
	c.restart(t, c.members[:2]...)
	t.Logf("%d reads refused, the slowest within %v; goroutines %d before and at most %d without a quorum; writes go on %v after the members are back",
		count, worst.Round(time.Millisecond), before, most, l.progress(t).Round(time.Millisecond))
}

// restartMembers restarts members as an upgrade does: one after the other, the
// leader last.
func restartMembers(t *testing.T, c *cluster, l *load) {
	leader := c.leader(t)
	order := slices.DeleteFunc(slices.Clone(c.members), func(m *etcd.Member) bool { return m == leader })
	for _, m := range append(order, leader) {
		stopped := time.Now()
		c.renew(t, m)
		l.progress(t)
		t.Logf("%s restarted: writes stalled for %v", m.Name, l.stall(stopped))
	}
}

// endServers ends one server after the other, each with a load of its own. A
// server that drains responds to what it has accepted.
func endServers(end func(*server), drains bool) func(*testing.T, *cluster, *load) {
	return func(t *testing.T, c *cluster, l *load) {
		var acknowledged, unknown, stored, cut int
		rounds := either(12, 3)
		for round := range rounds {
			s := c.servers[round%len(c.servers)]
			busy := startLoad(c, 2*writers, s)
			busy.progress(t)
			time.Sleep(rand.N(100 * time.Millisecond)) // otherwise it is always just after a response
			end(s)
			busy.wg.Wait()
			l.progress(t)
			c.restartServer(s)
			busy.finish(t)
			acknowledged += len(busy.ids)
			unknown += len(busy.unknown)
			stored += busy.stored
			cut += busy.cut
		}
		t.Logf("servers ended %d times: %d creations acknowledged, %d not, of which %d were stored; %d responses cut short",
			rounds, acknowledged, unknown, stored, cut)
		if drains && (cut > 0 || stored > 0) {
			t.Errorf("%d responses were cut short, %d creations were stored and not acknowledged; want none", cut, stored)
		}
	}
}
