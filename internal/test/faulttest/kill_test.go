//go:build linux

package faulttest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"example.com/animalstore/petstore"
)

// TestKill kills the server at random moments while clients write. After each
// kill the file must hold everything that was acknowledged, once, and may also
// hold writes without a response. A write that is repeated later must store
// nothing twice. The long form runs beside no other test, so that many writes are
// under way at a kill.
func TestKill(t *testing.T) {
	if !*full {
		t.Parallel()
	}
	n, random := rounds(3, 60)
	dir := t.TempDir()
	var repeat, extra []string // from the round before: writes without a response, and those of them that were stored
	var last int64
	acknowledged, more := 0, 0
	for round := range n {
		s := start(t, dir)
		l := s.newLoad()
		l.after = last
		for _, name := range repeat {
			if body := s.repeat(name); !slices.Contains(extra, name) {
				l.acknowledge(body)
			}
		}
		l.start(64, fmt.Sprint("r", round))
		if round == 0 {
			l.untilGood() // the machine may be slow
		}
		time.Sleep(time.Duration(random.IntN(250)) * time.Millisecond)
		s.Kill()
		l.wg.Wait()

		var stats petstore.Stats
		extra, stats = l.check(t, fmt.Sprint("round ", round), s.db())
		last = stats.Pets + later
		for _, name := range extra {
			if !slices.Contains(l.unsure, name) {
				t.Errorf("round %d: %q is in the store, but it had another response or was never sent", round, name)
			}
		}
		if l.others(201, 202) > len(l.unsure) {
			t.Errorf("round %d: responses by status: %v", round, l.status)
		}
		acknowledged += len(l.names)
		more += len(extra)
		repeat = l.unsure
	}
	t.Logf("%d kills, %d acknowledged; of those without a response %d are stored", n, acknowledged, more)
}
