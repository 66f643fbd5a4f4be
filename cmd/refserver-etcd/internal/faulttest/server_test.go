//go:build linux

package faulttest

import (
	"math/rand/v2"
	"testing"
	"time"
)

func killServers(t *testing.T, c *cluster, l *load) {
	endServers(t, c, l, true, func(s *server) error {
		s.Kill()
		return nil
	})
}

// A server that is stopped responds to what it has accepted.
func drainServers(t *testing.T, c *cluster, l *load) {
	total := endServers(t, c, l, false, (*server).stop)
	if total.cut > 0 || total.stored > 0 {
		t.Errorf("%d responses were cut short, %d creations were stored and not acknowledged; want none", total.cut, total.stored)
	}
	if total.closed == 0 {
		t.Error("no connection was closed with Connection: close")
	}
}

// total counts what happened to busy clients.
type total struct{ acknowledged, unknown, stored, cut, closed int }

// endServers ends one server after the other, each with busy clients of its own.
func endServers(t *testing.T, c *cluster, l *load, keyed bool, end func(*server) error) (sum total) {
	t.Helper()
	rounds := either(12, 3)
	for round := range rounds {
		s := c.servers[round%len(c.servers)]
		busy := startBusy(c, s, keyed)
		busy.progress(t)
		time.Sleep(rand.N(100 * time.Millisecond)) // otherwise it is always just after a response
		if err := end(s); err != nil {
			t.Error(err)
		}
		busy.wg.Wait()
		l.progress(t)
		if err := s.start(); err != nil {
			t.Fatal(err)
		}
		busy.finish(t)
		sum.acknowledged += len(busy.ids)
		sum.unknown += len(busy.unknown)
		sum.stored += busy.stored
		sum.cut += busy.cut
		sum.closed += busy.closed
	}
	t.Logf("servers ended %d times: %d creations acknowledged, %d not, of which %d were stored; %d responses cut short, %d connections closed with Connection: close",
		rounds, sum.acknowledged, sum.unknown, sum.stored, sum.cut, sum.closed)
	return sum
}
