//go:build linux

package postgrestest

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/animalstore/internal/test/process"
)

var full = flag.Bool("full", false, "run TestFaults")

func TestMain(m *testing.M) { os.Exit(process.Main(m)) }

// fault is what is done to machines of the cluster while clients create and read pets.
type fault struct {
	name  string
	times int
	to    func(*cluster, *state) []*machine        // the machines
	do    func(*cluster, *machine) error           // fails unless it had an effect on the machine
	holds func(*testing.T, *cluster, *load, *node) // until the repair; the node was the primary
}

// After each fault all nodes follow a primary again. All requests of all clients must be
// linearizable: what was acknowledged stays, nothing is stored twice, and a reader gets the
// newest state or 503. Only while there are two primaries, reads count again two seconds
// after the first acknowledgement by the new one.
var faults = []fault{
	{"the machine of the primary is lost", 5, primary, kill, anotherPrimary},
	{"the machine of the primary hangs", 3, primary, stop, anotherPrimary},
	{"PostgreSQL is killed on the primary", 3, primary, killPostgreSQL, createsGoOn},
	{"the primary and a standby change roles", 5, primary, switchOver, anotherPrimary},
	{"the machines of both standbys are lost", 2, standbys, kill, onlyReadsGoOn},
	{"the disk of a standby is lost", 2, confirmed, loseDisk, createsGoOn},
	{"a server of the petstore is killed", 10, server1Or2, kill, createsGoOn},
	{"Patroni is killed on the primary", 5, primary, killPatroni, twoPrimaries},
}

func primary(_ *cluster, now *state) []*machine { return []*machine{&now.primary.machine} }

func confirmed(_ *cluster, now *state) []*machine { return []*machine{&now.confirmed.machine} }

func standbys(_ *cluster, now *state) (all []*machine) {
	for _, n := range now.standbys {
		all = append(all, &n.machine)
	}
	return all
}

// server1Or2 returns the server that was not killed last.
func server1Or2(c *cluster, _ *state) []*machine {
	c.servers[0], c.servers[1] = c.servers[1], c.servers[0]
	return []*machine{&c.servers[0].machine}
}

func kill(_ *cluster, m *machine) error { return m.Kill() }

// stop stops all processes. The machine still accepts connections.
func stop(_ *cluster, m *machine) error {
	for range 100 { // they may start others meanwhile
		all, stopped := processes(m.dir), 0
		for pid, state := range all {
			if state == 'T' {
				stopped++
			} else {
				_ = syscall.Kill(pid, syscall.SIGSTOP) // it may have ended
			}
		}
		if stopped > 0 && stopped == len(all) {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("%s has not stopped", m.name)
}

// killPostgreSQL kills PostgreSQL, which Patroni starts again.
func killPostgreSQL(_ *cluster, m *machine) error {
	b, err := os.ReadFile(m.data() + "/postmaster.pid")
	if err != nil {
		return err
	}
	var pid int
	if _, err := fmt.Sscan(string(b), &pid); err != nil {
		return err
	}
	if processes(m.dir)[pid] == 0 { // a process that was killed leaves its file
		return fmt.Errorf("PostgreSQL does not run on %s", m.name)
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}

// killPatroni kills Patroni. PostgreSQL goes on.
func killPatroni(_ *cluster, m *machine) error {
	if !m.Running() {
		return fmt.Errorf("there is no Patroni on %s", m.name)
	}
	m.Process.Kill()
	return nil
}

func switchOver(c *cluster, m *machine) error {
	return c.call(c.nodes[0], "POST", "/switchover", strings.NewReader(fmt.Sprintf(`{"leader":%q}`, m.name)), nil)
}

// loseDisk loses the machine with its data, which Patroni then copies from the primary.
func loseDisk(_ *cluster, m *machine) error {
	if err := m.Kill(); err != nil {
		return err
	}
	return os.Rename(m.data(), fmt.Sprint(m.dir, "/lost", time.Now().UnixNano()))
}

func createsGoOn(t *testing.T, _ *cluster, l *load, _ *node) { l.progress(t) }

func anotherPrimary(t *testing.T, c *cluster, l *load, before *node) {
	process.Eventually(t, "another primary", func() error {
		now, err := c.state()
		if err == nil && now.primary == before {
			err = errors.New("still the same")
		}
		return err
	})
	l.progress(t)
}

// onlyReadsGoOn holds without a standby: no creation is acknowledged.
func onlyReadsGoOn(t *testing.T, c *cluster, l *load, _ *node) {
	time.Sleep(time.Second) // until responses that were under way have arrived
	before := l.Acknowledged()
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		for _, s := range c.servers {
			s.api.Must(http.StatusOK, "GET", "/pets/1", "")
		}
	}
	if n := l.Acknowledged() - before; n > 0 {
		t.Errorf("%d creations were acknowledged without a standby", n)
	}
}

// twoPrimaries holds without a watchdog: the earlier primary still serves reads. A server
// may read from it until it has seen the new one, which takes it a second.
func twoPrimaries(t *testing.T, c *cluster, l *load, before *node) {
	l.creationsOnly.Store(true)
	anotherPrimary(t, c, l, before)
	time.Sleep(2 * time.Second)
	l.creationsOnly.Store(false)
	time.Sleep(5 * time.Second)
	l.progress(t)
	if len(processes(before.data())) == 0 {
		t.Fatalf("the PostgreSQL of %s has ended", before.name)
	}
}

// apply applies the fault once. It returns when all nodes follow a primary again and
// creations are acknowledged.
func (f fault) apply(t *testing.T, c *cluster, l *load) error {
	t.Helper()
	now := c.untilReady(t)
	machines := f.to(c, now)
	for _, m := range machines {
		if err := f.do(c, m); err != nil {
			return err
		}
	}
	f.holds(t, c, l, now.primary)
	for _, m := range machines {
		if err := m.repair(); err != nil {
			return err
		}
	}
	c.untilReady(t)
	l.progress(t)
	return nil
}

// repair starts the machine again, unless its first process runs. It kills a machine that
// was stopped.
func (m *machine) repair() error {
	if slices.Contains(slices.Collect(maps.Values(processes(m.dir))), 'T') {
		if err := m.Kill(); err != nil {
			return err
		}
	}
	if m.Running() {
		return nil
	}
	return m.Start()
}

// TestFaults applies all faults to one cluster, one after the other.
func TestFaults(t *testing.T) {
	if !*full {
		t.Skip("it takes long, and needs Patroni and etcd: add -args -full")
	}
	c := runCluster(t)
	l := startLoad(c)
	for _, f := range faults {
		l.progress(t)
		before := l.Acknowledged()
		l.stalled()
		for n := range f.times {
			if err := f.apply(t, c, l); err != nil {
				t.Fatalf("%s: applied %d of %d times: %v", f.name, n, f.times, err)
			}
		}
		t.Logf("fault: %s: applied %d of %d times; longest stall %.1f s, %d pets acknowledged",
			f.name, f.times, f.times, l.stalled().Seconds(), l.Acknowledged()-before)
	}
	l.finish(t, c)
}
