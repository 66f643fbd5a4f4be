//go:build linux

package faulttest

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// TestStalledSync delays every sync of the server. Reads of acknowledged pets
// must not wait for a sync. On a busy machine a read may take as long, but not
// every time.
func TestStalledSync(t *testing.T) {
	needStrace(t)
	parallel(t)
	const stall = time.Second
	dir := t.TempDir()
	s := start(t, dir)
	s.create("before")
	s.Stop()
	s = start(t, dir, inject(fmt.Sprintf("fdatasync:delay_enter=%d", stall.Microseconds()))...)
	for try := 1; ; try++ {
		reads, took, slowest := readDuringCreate(s)
		if took < stall {
			t.Fatalf("the create took %v: nothing delayed the sync", took)
		}
		if slowest < stall/2 {
			report(t, "%d reads during a create of %v, the slowest in %v", reads, took.Round(time.Millisecond), slowest.Round(time.Millisecond))
			return
		}
		if try == 3 || *idle {
			t.Fatalf("one of %d reads during a create of %v took %v", reads, took, slowest)
		}
	}
}

// readDuringCreate reads a pet again and again while another one is created.
func readDuringCreate(s *server) (reads int, took, slowest time.Duration) {
	s.t.Helper()
	created := make(chan error, 1)
	began := time.Now()
	go func() {
		r, err := s.Send("POST", "/pets", petBody("stalled"))
		if err == nil && r.Status != http.StatusCreated {
			err = fmt.Errorf("%d %s", r.Status, r.Body)
		}
		created <- err
	}()
	for len(created) == 0 {
		from := time.Now()
		s.Must(http.StatusOK, "GET", "/pets/1", "")
		slowest = max(slowest, time.Since(from))
		reads++
	}
	if err := <-created; err != nil {
		s.t.Errorf("POST /pets: %v", err)
	}
	return reads, time.Since(began), slowest
}
