//go:build linux

package faulttest

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// TestStalledSync delays every sync of the server. Reads of acknowledged pets
// must not wait for a sync. The reads follow one another, so if reads wait for a
// sync, one of them takes nearly as long as the sync. On a busy machine a read may
// be as slow for another reason, but not during every create.
func TestStalledSync(t *testing.T) {
	needStrace(t)
	t.Parallel()
	const stall, tries = time.Second, 20
	dir := t.TempDir()
	s := start(t, dir)
	s.create("before")
	s.Stop()
	s = start(t, dir, "strace", "-D", "-f", "-o", "/dev/null", "-e", "trace=fdatasync",
		"-e", fmt.Sprintf("inject=fdatasync:delay_enter=%d", stall.Microseconds()))
	for try := range tries {
		l := s.newLoad()
		l.each = 1
		began := time.Now()
		l.start(1, fmt.Sprint("stalled-", try))
		reads, slowest := -1, time.Duration(0) // -1: the last read is not counted, as it may end after the create
		for ; l.good() == 0 && time.Since(began) < patience; reads++ {
			from := time.Now()
			s.Must(http.StatusOK, "GET", "/pets/1", "")
			slowest = max(slowest, time.Since(from))
		}
		took := time.Since(began)
		if took < stall || took > patience {
			t.Fatalf("the create took %v: %d have no response; responses by status: %v", took, len(l.unsure), l.status)
		}
		if slowest < stall*3/4 {
			t.Logf("%d reads during a create of %v, the slowest in %v", reads, took.Round(time.Millisecond), slowest.Round(time.Millisecond))
			return
		}
		t.Logf("%d reads during a create of %v, the slowest in %v", reads, took, slowest)
	}
	t.Fatal("reads wait for a sync")
}
