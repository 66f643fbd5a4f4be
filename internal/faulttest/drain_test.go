//go:build linux

package faulttest

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"
)

// TestDrain stops the server with SIGTERM while clients are busy, and while the
// first requests arrive on connections that were silent. Every request that the
// server accepts must get its whole response. A request without a response must
// have had no effect.
func TestDrain(t *testing.T) {
	parallel(t)
	n, random := rounds(1, 20)
	dir := t.TempDir()
	acknowledged, repeated, closed := 0, 0, 0
	var last int64 // pets on disk
	for round := range n {
		for _, kind := range []string{"busy", "late"} {
			s := start(t, dir, "env", "PETSTORE_DRAIN=2m") // however busy the machine is
			c := newClients(s, last)
			name := fmt.Sprintf("%s-%d", kind, round)
			if kind == "busy" {
				c.start(name)
				c.untilAcknowledged()
				time.Sleep(time.Duration(100+random.IntN(300)) * time.Millisecond)
				_ = s.Signal(syscall.SIGTERM)
			} else {
				c.sendLate(name)
			}
			if code := s.Wait(); code != 0 {
				t.Fatalf("exit code %d:\n%s", code, s.Tail())
			}
			c.wg.Wait()
			if c.cut > 0 || c.other > 0 || len(c.twice) > 0 {
				t.Errorf("%s: %d responses were cut off, %d have another status, pets with the ID of another one: %q", name, c.cut, c.other, c.twice)
			}
			extra, pets, _ := c.acked.check(t, name, s.db())
			if len(extra) > 0 {
				t.Errorf("%s: done without a response: %q", name, extra)
			}
			s = start(t, dir)
			for _, name := range append(c.unsurePets, c.unsurePets...) {
				s.Must(http.StatusCreated, "POST", "/pets", petBody(name), "Idempotency-Key", name)
			}
			if last = s.vars().Store.Pets; last != pets+later+int64(len(c.unsurePets)) {
				t.Errorf("%s: %d pets after %d creations were repeated twice, want %d", name, last, len(c.unsurePets), pets+later+int64(len(c.unsurePets)))
			}
			acknowledged += c.acked.len()
			repeated += len(c.unsurePets)
			closed += c.closed
			s.Stop()
		}
	}
	report(t, "%d stops, %d acknowledged, 0 cut off, 0 done without a response, %d refused and repeated, %d connections closed with notice", 2*n, acknowledged, repeated, closed)
}

// sendLate stops the server and sends requests on connections that have been
// silent, at about the time when the server closes such connections.
func (c *clients) sendLate(name string) {
	conns := make([]net.Conn, clientCount)
	for i := range conns {
		conns[i] = c.s.dial()
	}
	_ = c.s.Signal(syscall.SIGTERM)
	for i, conn := range conns {
		c.wg.Go(func() {
			time.Sleep(900*time.Millisecond + time.Duration(i)*3*time.Millisecond)
			c.send(conn, bufio.NewReader(conn), fmt.Sprintf("%s-%d", name, i), false)
		})
	}
}
