//go:build linux

package faulttest

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestCancelled cancels requests at random moments: before, while and after the
// store does its part. No part of a pet or message and no transaction may be left. With
// an open transaction the server would not end.
func TestCancelled(t *testing.T) {
	t.Parallel()
	n, _ := rounds(1000, 10_000)
	s := start(t, t.TempDir())
	l := newLoad(t, s, nil)
	l.requests = n / 16
	l.limit = func(random *rand.Rand) time.Duration {
		if random.IntN(8) == 0 {
			return patience
		}
		return time.Duration(random.IntN(4000)) * time.Microsecond
	}
	l.start(16, "c")
	l.wg.Wait()
	if l.status[0] == 0 || l.Acknowledged() == 0 || l.others(0) > 0 {
		t.Errorf("%d writes acknowledged; responses by status: %v", l.Acknowledged(), l.status)
	}
	s.Stop()
	check(t, "after the requests", database(s), l.History, n)
	t.Logf("%d requests, %d cancelled, %d writes acknowledged", n/16*16, l.status[0], l.Acknowledged())
}
