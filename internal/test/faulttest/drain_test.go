//go:build linux

package faulttest

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

// TestDrain stops the server with SIGTERM while clients are busy, and while the
// first requests arrive on connections that were silent. Every request that the
// server accepts must get its whole response. A request without a response must
// have had no effect.
func TestDrain(t *testing.T) {
	t.Parallel()
	n, random := rounds(1, 8)
	dir := t.TempDir()
	acknowledged, repeated := 0, 0
	after := int64(0)
	for round := range n {
		for _, kind := range []string{"busy", "late"} {
			s := startWith(t, dir, "-drain=2m") // the machine may be busy
			l := s.newLoad()
			l.after = after
			name := fmt.Sprintf("%s-%d", kind, round)
			if kind == "busy" {
				l.start(64, name)
				l.untilGood()
				time.Sleep(time.Duration(100+random.IntN(300)) * time.Millisecond)
				_ = s.Signal(syscall.SIGTERM)
			} else {
				l.sendLate(name)
			}
			if code := s.Wait(); code != 0 {
				t.Fatalf("exit code %d:\n%s", code, s.Tail())
			}
			l.wg.Wait()
			if others := l.others(201, 202); l.cut > 0 || others > len(l.unsure) {
				t.Errorf("%s: %d responses were cut off; responses by status: %v", name, l.cut, l.status)
			}
			extra, stats := l.check(t, name, s.db())
			if len(extra) > 0 {
				t.Errorf("%s: stored without a response: %q", name, extra)
			}
			s = start(t, dir)
			again := newLedger()
			again.after = stats.Pets + later
			for _, name := range l.unsure {
				again.acknowledge(s.repeat(name))
				s.repeat(name)
			}
			s.Stop()
			if extra, stats = again.check(t, name+", repeated", s.db()); len(extra) > 0 {
				t.Errorf("%s: %q are in the store, but were not repeated", name, extra)
			}
			after = stats.Pets + later
			acknowledged += len(l.names)
			repeated += len(l.unsure)
		}
	}
	t.Logf("%d stops, %d acknowledged, %d refused and repeated", 2*n, acknowledged, repeated)
}

// sendLate stops the server and sends requests on connections that have been
// silent, at about the time when the server closes such connections.
func (l *load) sendLate(name string) {
	conns := make([]conn, 64)
	for i := range conns {
		conns[i] = l.s.dial()
	}
	_ = l.s.Signal(syscall.SIGTERM)
	for i, c := range conns {
		l.wg.Go(func() {
			time.Sleep(900*time.Millisecond + time.Duration(i)*3*time.Millisecond)
			l.send(c, fmt.Sprintf("%s-%d", name, i))
		})
	}
}
