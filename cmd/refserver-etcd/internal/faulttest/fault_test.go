//go:build linux

package faulttest

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"example.com/animalstore/internal/etcd"
)

// TestFaults causes faults in one cluster, one after the other, until a test
// fails. Each has a load of its own. At the end everything that was acknowledged
// must still be there, and the history of some clients must be linearizable.
func TestFaults(t *testing.T) {
	c := newCluster(t, 3)
	h := startHistory(t, c, either(250*time.Millisecond, 100*time.Millisecond)) // few enough operations to be checked
	for _, f := range []struct {
		name  string
		cause func(*testing.T, *cluster, *load)
		cuts  bool // needs network namespaces
	}{
		{"leader killed", killLeader, false},
		{"leader paused", pause((*cluster).leader), false},
		{"member paused", pause((*cluster).follower), false},
		{"leader cut off", cut((*cluster).leader, (*cluster).pull), true},
		{"member cut off", cut((*cluster).follower, (*cluster).pull), true},
		{"leader cut off from members", cut((*cluster).leader, (*cluster).separate), true},
		{"member cut off from members", cut((*cluster).follower, (*cluster).separate), true},
		{"leader cut off from one", cutLeaderFromOne, true},
		{"all killed", killAll, false},
		{"disk wiped", wipe, false},
		{"no quorum", loseQuorum, false},
		{"members restarted", restartMembers, false},
		{"servers killed", killServers, false},
		{"servers drained", drainServers, false},
	} {
		passed := t.Run(f.name, func(t *testing.T) {
			if f.cuts {
				needNamespaces(t)
			}
			l := startLoad(c)
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
	if outcome := h.end(t); outcome != porcupine.Ok {
		t.Errorf("the history is %s", outcome)
	}
}

// needNamespaces skips the test if it cannot cut connections. In CI it fails.
func needNamespaces(t *testing.T) {
	t.Helper()
	if !namespaced && os.Getenv("CI") == "true" {
		t.Fatal("this needs ip(8) and permission to create network namespaces")
	} else if !namespaced {
		t.Skip("this needs ip(8) and permission to create network namespaces")
	}
}

func killLeader(t *testing.T, c *cluster, l *load) {
	var stalls []time.Duration
	for range either(20, 3) {
		m, killed := c.leader(t), time.Now()
		m.Kill()
		c.leader(t)
		l.progress(t)
		stalls = append(stalls, l.stall(killed))
		c.restart(t, m)
		time.Sleep(time.Second) // otherwise there is no leader most of the time
	}
	slices.Sort(stalls)
	t.Logf("leader killed %d times: writes stalled for %v (median), %v (worst)", len(stalls), stalls[len(stalls)/2], stalls[len(stalls)-1])
}

// pick chooses a member.
type pick func(*cluster, testing.TB) *etcd.Member

func pause(pick pick) func(*testing.T, *cluster, *load) {
	return func(t *testing.T, c *cluster, l *load) {
		m, paused := pick(c, t), time.Now()
		if err := m.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		time.Sleep(either(10*time.Second, 3*time.Second))
		l.progress(t)
		if err := m.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		l.progress(t)
		t.Logf("writes stalled for %v", l.stall(paused))
	}
}

func cut(pick pick, cut func(*cluster, *etcd.Member, bool) error) func(*testing.T, *cluster, *load) {
	return func(t *testing.T, c *cluster, l *load) {
		m := pick(c, t)
		whileCut(t, c, l, m, func(on bool) error { return cut(c, m, on) })
	}
}

func cutLeaderFromOne(t *testing.T, c *cluster, l *load) {
	a, b := c.leader(t), c.follower(t)
	whileCut(t, c, l, b, func(on bool) error { return c.cut(a, b, on) })
}

// whileCut cuts a connection, waits under load, and restores it. Because of the
// cut the member has no leader, or the leader changes.
func whileCut(t *testing.T, c *cluster, l *load, m *etcd.Member, cut func(on bool) error) {
	t.Helper()
	leader, start := c.leader(t), time.Now()
	if err := cut(true); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the cut", func() error {
		if healthy(t, m) == nil && c.leader(t) == leader {
			return errors.New(m.Name + " still has its leader")
		}
		return nil
	})
	time.Sleep(either(10*time.Second, 3*time.Second))
	l.progress(t)
	if err := cut(false); err != nil {
		t.Fatal(err)
	}
	l.progress(t)
	t.Logf("writes stalled for %v", l.stall(start))
	eventually(t, "the end of the cut", func() error { return healthy(t, m) })
}

func killAll(t *testing.T, c *cluster, _ *load) {
	for _, m := range c.members {
		m.Kill()
	}
	for _, m := range c.members {
		c.restart(t, m)
	}
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
		eventually(t, "the change of the members", func() error {
			_, err := operate(t, c, line)
			return err
		})
	}
	m.Args = append(slices.Clip(m.Args), "--initial-cluster-state=existing")
	c.restart(t, m)
	l.progress(t)
	// The new member has all data if the cluster goes on without another one.
	eventually(t, "the new member's health", func() error { return healthy(t, m) })
	for _, other := range c.members {
		if other != m && other != c.leader(t) {
			other.Kill()
			l.progress(t)
			c.restart(t, other)
		}
	}
}

func loseQuorum(t *testing.T, c *cluster, l *load) {
	s := c.servers[0]
	before := goroutines(t, s)
	for _, m := range c.members[:2] {
		m.Kill()
	}
	most, worst, count := 0, time.Duration(0), 0
	for end := time.Now().Add(either(20*time.Second, 7*time.Second)); time.Now().Before(end); {
		start := time.Now()
		r, err := s.Send("GET", "/pets", "")
		worst = max(worst, time.Since(start))
		if err != nil {
			t.Errorf("without a quorum: %v", err)
		} else if r.Status == http.StatusServiceUnavailable {
			count++
			if r.Header.Get("Retry-After") == "" {
				t.Errorf("503 without Retry-After: %s", r.Body)
			}
		}
		most = max(most, goroutines(t, s))
	}
	if count == 0 {
		t.Error("no read was refused")
	}
	if most > before+4*writers+50 {
		t.Errorf("%d goroutines without a quorum, %d before", most, before)
	}
	for _, m := range c.members[:2] {
		c.restart(t, m)
	}
	t.Logf("%d reads refused, the slowest within %v; goroutines %d before and at most %d without a quorum; writes go on %v after the members were started",
		count, worst.Round(time.Millisecond), before, most, l.progress(t).Round(time.Millisecond))
}

// goroutines returns how many goroutines a server has.
func goroutines(t *testing.T, s *server) int {
	t.Helper()
	var vars struct{ Goroutines int }
	r, err := s.Send("GET", s.Admin+"/debug/vars", "")
	if err == nil {
		err = json.Unmarshal([]byte(r.Body), &vars)
	}
	if err != nil || vars.Goroutines == 0 {
		t.Fatalf("the admin address: %s (%v)", r.Body, err)
	}
	return vars.Goroutines
}

// restartMembers restarts members as an upgrade does: one after the other, the
// leader last. Before each it waits until the documented command reports all
// members healthy.
func restartMembers(t *testing.T, c *cluster, l *load) {
	health := documented(t, "*Upgrades of members.*")
	leader := c.leader(t)
	order := slices.DeleteFunc(slices.Clone(c.members), func(m *etcd.Member) bool { return m == leader })
	for _, m := range append(order, leader) {
		stopped := time.Now()
		c.renew(t, m)
		eventually(t, "the health of all members", func() error {
			_, err := operate(t, c, health)
			return err
		})
		l.progress(t)
		t.Logf("%s restarted: writes stalled for %v", m.Name, l.stall(stopped))
	}
}

// renew stops a member with SIGTERM and starts it again.
func (c *cluster) renew(t testing.TB, m *etcd.Member) {
	t.Helper()
	err := m.Signal(syscall.SIGTERM)
	if err == nil {
		_, err = m.Wait()
	}
	if err != nil {
		t.Fatal(err)
	}
	c.restart(t, m)
	eventually(t, m.Name+"'s health", func() error { return healthy(t, m) })
}
