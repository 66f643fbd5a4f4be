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
		parallel(t)
	}
	n, random := rounds(4, 200)
	serverArgs(t, nil) // builds the server, which is not part of a start
	dir := t.TempDir()
	var repeat, extra []string // from the round before: writes without a response, and those of them that were stored
	var last int64
	acknowledged, more, slowest := 0, 0, time.Duration(0)
	for round := range n {
		began := time.Now()
		s := start(t, dir)
		slowest = max(slowest, time.Since(began))
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
	if *idle && slowest > time.Second {
		t.Errorf("a start took %v", slowest)
	}
	report(t, "%d kills, %d acknowledged, 0 lost, 0 twice, %d without a response are there; slowest start %v", n, acknowledged, more, slowest.Round(time.Millisecond))
}
