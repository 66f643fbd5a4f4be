//go:build linux

package faulttest

import (
	"fmt"
	"math/rand/v2"
	"net/http"
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
	goroutines := func() (n int) {
		profile := s.Must(http.StatusOK, "GET", s.Admin+"/debug/pprof/goroutine?debug=1", "").Body
		if _, err := fmt.Sscanf(profile, "goroutine profile: total %d", &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := goroutines()
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
	l.client.CloseIdleConnections()
	if l.status[0] == 0 || l.Acknowledged() == 0 || l.others(0) > 0 {
		t.Errorf("%d writes acknowledged; responses by status: %v", l.Acknowledged(), l.status)
	}
	s.Until("the goroutines of the requests end", func() bool { return goroutines() <= before })
	s.Stop()
	check(t, "after the requests", database(s), l.History, n)
	t.Logf("%d requests, %d cancelled, %d writes acknowledged", n/16*16, l.status[0], l.Acknowledged())
}
