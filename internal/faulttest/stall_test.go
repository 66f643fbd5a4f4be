//go:build linux

package faulttest

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// TestStalledSync delays every sync of the server. Reads of acknowledged pets
// must not wait for a sync. Each read follows the one before it, so if they
// wait, they do so most of the time; on a busy machine some are slow too, but
// not each time.
func TestStalledSync(t *testing.T) {
	needStrace(t)
	parallel(t)
	const stall = time.Second
	dir := t.TempDir()
	s := start(t, dir)
	s.create("before")
	s.Stop()
	s = start(t, dir, inject(fmt.Sprintf("fdatasync:delay_enter=%d", stall.Microseconds()))...)
	tries := 5
	if *idle {
		tries = 1
	}
	for try := 1; ; try++ {
		created := make(chan error, 1)
		began := time.Now()
		go func() {
			r, err := s.Send("POST", "/pets", petBody("stalled"))
			if err == nil && r.Status != http.StatusCreated {
				err = fmt.Errorf("%d %s", r.Status, r.Body)
			}
			created <- err
		}()
		reads, slowest, waited := 0, time.Duration(0), time.Duration(0)
		for len(created) == 0 {
			from := time.Now()
			s.Must(http.StatusOK, "GET", "/pets/1", "")
			took := time.Since(from)
			if slowest = max(slowest, took); took > stall/2 {
				waited += took
			}
			reads++
		}
		took := time.Since(began)
		if err := <-created; err != nil {
			t.Fatalf("POST /pets: %v", err)
		}
		if took < stall {
			t.Fatalf("the create took %v: nothing delayed the sync", took)
		}
		if waited <= took/2 && (!*idle || waited == 0) {
			report(t, "%d reads during a create of %v, the slowest in %v", reads, took.Round(time.Millisecond), slowest.Round(time.Millisecond))
			return
		}
		t.Logf("reads waited for %v of a create of %v", waited, took)
		if try == tries {
			t.Fatal("reads wait for a sync")
		}
	}
}
