//go:build linux

package faulttest

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// TestStalledSync delays every sync of the server. Reads of pets that are
// already acknowledged must not wait for a sync.
func TestStalledSync(t *testing.T) {
	needStrace(t)
	const stall = time.Second
	dir := t.TempDir()
	s := start(t, dir)
	s.must(http.StatusCreated, "POST", "/pets", petBody("before"))
	s.stop()
	inject := fmt.Sprintf("inject=fdatasync:delay_enter=%d", stall.Microseconds())
	s = start(t, dir, "strace", "-f", "-o", "/dev/null", "-e", "trace=fdatasync", "-e", inject)
	created := make(chan answer)
	began := time.Now()
	go func() {
		a, err := s.send(http.DefaultClient, "POST", "/pets", petBody("stalled"))
		if err != nil {
			t.Error(err)
		}
		created <- a
	}()
	reads, slowest := 0, time.Duration(0)
	for {
		select {
		case a := <-created:
			if a.status != http.StatusCreated {
				t.Errorf("the create returned %d %s", a.status, a.body)
			}
			took := time.Since(began)
			t.Logf("%d reads during a create of %v, the slowest in %v", reads, took, slowest)
			if took < stall || reads == 0 || slowest > stall/2 {
				t.Error("reads waited for the sync, or the sync was not delayed")
			}
			return
		default:
		}
		from := time.Now()
		s.must(http.StatusOK, "GET", "/pets/1", "")
		slowest = max(slowest, time.Since(from))
		reads++
	}
}
