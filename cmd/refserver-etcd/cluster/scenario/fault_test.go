package scenario

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"example.com/animalstore/cmd/refserver-etcd/cluster/local"
)

// fault is a fault that a cluster must survive, under a load of its own.
type fault struct {
	name string
	test func(*testing.T, *local.Cluster)
}

// TestFaults causes every fault in one cluster, under load, and at the end checks
// a history for linearizability.
func TestFaults(t *testing.T) {
	survive(t, local.Proxied, []fault{
		{"leader killed", testLeaderKilled},
		{"member paused", testPaused},
		{"member cut off", testCutOff},
		{"leader cut off", testLeaderCutOff},
		{"leader cut off from one", testLeaderCutFromOne},
		{"all killed", testAllKilled},
		{"disk wiped", testWiped},
		{"no quorum", testNoQuorum},
		{"members restarted", testRestarted},
		{"servers killed", testServersKilled},
		{"servers drained", testServersDrained},
	})
}

// survive causes faults in a cluster, one after the other, until a test fails.
func survive(t *testing.T, network local.Network, faults []fault) {
	t.Helper()
	c := newCluster(t, 3, network)
	t.Log(c.Endpoints())
	h := startHistory(t, c)
	for _, tt := range faults {
		if !t.Run(tt.name, func(t *testing.T) { tt.test(t, c) }) {
			break
		}
	}
	if outcome := h.end(t); outcome != porcupine.Ok {
		t.Errorf("the history is %s", outcome)
	}
}

// leader returns the leader.
func leader(t *testing.T, c *local.Cluster) *local.Member {
	t.Helper()
	m, err := c.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// follower returns a member that does not lead.
func follower(t *testing.T, c *local.Cluster) *local.Member {
	t.Helper()
	l := leader(t, c)
	for _, m := range c.Members {
		if m != l {
			return m
		}
	}
	panic("unreachable")
}

func restart(t *testing.T, c *local.Cluster, m *local.Member) {
	t.Helper()
	if err := c.Restart(m); err != nil {
		t.Fatal(err)
	}
}

// renew stops a member in good order, starts it again, and waits until it serves
// linearizable reads.
func renew(t *testing.T, c *local.Cluster, m *local.Member) {
	t.Helper()
	if err := m.Stop(); err != nil {
		t.Fatal(err)
	}
	restart(t, c, m)
	eventually(t, m.Name()+"'s health", func() error { return m.Healthy(t.Context()) })
}

func testLeaderKilled(t *testing.T, c *local.Cluster) {
	l := startLoad(c)
	var stalls []time.Duration
	for range either(20, 3) {
		l.progress(t)
		m := leader(t, c)
		killed := time.Now()
		m.Kill()
		leader(t, c)
		l.progress(t)
		stalls = append(stalls, l.stall(killed, time.Now()))
		restart(t, c, m)
		time.Sleep(time.Second) // otherwise there is no leader most of the time
	}
	median, worst := middle(stalls)
	t.Logf("leader killed %d times: writes stalled for %v (median), %v (worst)", len(stalls), median, worst)
	l.finish(t)
}

func testPaused(t *testing.T, c *local.Cluster) {
	for _, pick := range []func(*testing.T, *local.Cluster) *local.Member{leader, follower} {
		l := startLoad(c)
		l.progress(t)
		m := pick(t, c)
		if err := m.Pause(); err != nil {
			t.Skip(err)
		}
		paused := time.Now()
		time.Sleep(either(10*time.Second, 3*time.Second))
		l.progress(t)
		if err := m.Resume(); err != nil {
			t.Fatal(err)
		}
		l.progress(t)
		t.Logf("writes stalled for %v", l.stall(paused, time.Now()).Round(time.Millisecond))
		l.finish(t)
	}
}

func testAllKilled(t *testing.T, c *local.Cluster) {
	l := startLoad(c)
	l.progress(t)
	for _, m := range c.Members {
		m.Kill()
	}
	for _, m := range c.Members {
		restart(t, c, m)
	}
	l.progress(t)
	l.finish(t)
}

func testWiped(t *testing.T, c *local.Cluster) {
	l := startLoad(c)
	l.progress(t)
	m := follower(t, c)
	m.Kill()
	if err := c.Replace(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	l.progress(t)
	// The new member has all data if the cluster goes on without another one.
	eventually(t, "the new member to have a leader", func() error {
		s, err := m.Status(t.Context())
		if err == nil && s.Leader == 0 {
			err = fmt.Errorf("it has none")
		}
		return err
	})
	for _, other := range c.Members {
		if other != m && other != leader(t, c) {
			other.Kill()
			l.progress(t)
			restart(t, c, other)
			break
		}
	}
	l.finish(t)
}

func testNoQuorum(t *testing.T, c *local.Cluster) {
	l := startLoad(c)
	l.progress(t)
	base := goroutines(t, c.Servers[0])
	for _, m := range c.Members[:2] {
		m.Kill()
	}
	end := time.Now().Add(either(20*time.Second, 7*time.Second))
	most, worst, refused := 0, time.Duration(0), 0
	for time.Now().Before(end) {
		start := time.Now()
		a, err := send("GET", c.Servers[0].URL()+"/pets", c.Key, "", "")
		if took := time.Since(start); took > worst {
			worst = took
		}
		if err != nil {
			t.Errorf("without a quorum: %v", err)
		} else if a.status == http.StatusServiceUnavailable {
			refused++
			if a.header.Get("Retry-After") == "" {
				t.Errorf("503 without Retry-After: %s", a.body)
			}
		}
		most = max(most, goroutines(t, c.Servers[0]))
	}
	if refused == 0 {
		t.Error("no read was refused")
	}
	if most > base+4*writers+50 {
		t.Errorf("%d goroutines without a quorum, %d before", most, base)
	}
	if a, err := send("GET", c.Servers[0].AdminURL(), c.Key, "", ""); err != nil {
		t.Errorf("the admin address does not respond: %v %v", a, err)
	}
	for _, m := range c.Members[:2] {
		restart(t, c, m)
	}
	back := time.Now()
	l.progress(t)
	t.Logf("%d reads refused, the slowest within %v; goroutines %d before and at most %d without a quorum; writes go on %v after the members were started",
		refused, worst.Round(time.Millisecond), base, most, time.Since(back).Round(time.Millisecond))
	l.finish(t)
}

var goroutinesForm = regexp.MustCompile(`"goroutines": (\d+)`)

// goroutines returns how many goroutines a server has.
func goroutines(t *testing.T, s *local.Server) int {
	t.Helper()
	resp, err := http.Get(s.AdminURL() + "/debug/vars")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	m := goroutinesForm.FindSubmatch(b)
	if m == nil {
		t.Fatalf("no goroutines in %s", b)
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n
}
