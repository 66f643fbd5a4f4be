//go:build linux

package faulttest

import (
	"fmt"
	"testing"
	"time"

	"example.com/animalstore/internal/test/process"
)

// TestStalledSync delays every sync of the server by a second. Reads of acknowledged
// pets must not wait for a sync: many are done while a create waits for one.
func TestStalledSync(t *testing.T) {
	process.Tool(t, "strace")
	t.Parallel()
	const stall = time.Second
	dir := t.TempDir()
	s := start(t, dir)
	s.create("before")
	s.Stop()
	s = start(t, dir, "strace", "-D", "-f", "-o", "/dev/null", "-e", "trace=fdatasync",
		"-e", fmt.Sprintf("inject=fdatasync:delay_enter=%d", stall.Microseconds()))
	create, get := s.newLoad(), s.newReads()
	create.each = 1
	began := time.Now()
	create.start(1, "stalled")
	time.Sleep(stall / 4)
	get.start(1, "get")
	create.wg.Wait()
	took, reads := time.Since(began), get.good()
	get.end()
	if others := create.others(201) + get.others(200); others > 0 || took < stall || reads < 10 {
		t.Errorf("%d reads during a create of %v; creates by status: %v, reads by status: %v", reads, took, create.status, get.status)
	}
	t.Logf("%d reads during a create of %v", reads, took.Round(time.Millisecond))
}
