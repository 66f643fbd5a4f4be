//go:build linux

package faulttest

import (
	"fmt"
	"testing"
	"time"

	"example.com/animalstore/internal/test/history"
	"example.com/animalstore/internal/test/process"
)

// TestKill kills the server at random moments while clients use it, and starts it again.
// After each kill the history of all clients must be linearizable: what was acknowledged
// is there, once, also if the request is repeated after the next start. The long form runs
// beside no other test, so that many writes are under way at a kill.
func TestKill(t *testing.T) {
	if !*full {
		t.Parallel()
	}
	const clients = 64
	n, random := rounds(3, 60)
	dir, h := t.TempDir(), history.New()
	for round := range n {
		s := start(t, dir)
		l := newLoad(t, s, h)
		l.start(clients, fmt.Sprint("r", round))
		if round == 0 {
			l.untilGood() // the machine may be slow
		}
		time.Sleep(time.Duration(random.IntN(250)) * time.Millisecond)
		s.Kill()
		l.wg.Wait()
		checkFile(t, fmt.Sprint("round ", round), "petstore.db", process.ReadFile(t, database(s)), h, clients*(round+1))
		if l.others(0) > 0 {
			t.Errorf("round %d: responses by status: %v", round, l.status)
		}
	}
	t.Logf("%d kills, %d pets and messages acknowledged, %d reads", n, h.Acknowledged(), h.Reads())
}
