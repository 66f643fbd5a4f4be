//go:build linux

package faulttest

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestCancelled cancels requests at random moments: before, while and after the
// store does its part. No part of a pet or message, no goroutine and no
// transaction may be left. With an open transaction the server would not end.
func TestCancelled(t *testing.T) {
	t.Parallel()
	n, _ := rounds(1000, 10_000)
	s := start(t, t.TempDir())
	before := s.goroutines()
	l := s.newMixed()
	l.each = n / 16
	l.wait = func() time.Duration {
		if rand.IntN(8) == 0 {
			return patience
		}
		return time.Duration(rand.IntN(4000)) * time.Microsecond
	}
	l.start(16, "c")
	l.wg.Wait()
	if len(l.unsure) == 0 || len(l.names) == 0 {
		t.Errorf("%d requests were cancelled and %d writes acknowledged", len(l.unsure), len(l.names))
	}
	if l.others(200, 201, 202) > len(l.unsure) {
		t.Errorf("responses by status: %v", l.status)
	}
	s.Until("the goroutines of the requests end", func() bool { return s.goroutines() <= before })
	s.Stop()
	extra, _ := l.check(t, "after the requests", s.db())
	t.Logf("%d requests, %d cancelled, %d writes acknowledged, %d stored for a client that was gone", n/16*16, len(l.unsure), len(l.names), len(extra))
}
