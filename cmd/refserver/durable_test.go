package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What was acknowledged is there after a stop and after a kill, IDs go on from
// where they were, and a repeated creation returns the first response.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	first := s.create("first", "Idempotency-Key", "once")
	s.Stop()
	s = start(t, dir)
	second := s.create("second")
	s.Kill()
	s = start(t, dir)
	if again := s.create("first", "Idempotency-Key", "once"); again != first {
		t.Errorf("the repeated creation returned %s, and %s at first", again, first)
	}
	third := s.create("third")
	want := "[" + strings.Join([]string{first, second, third}, ",") + "]"
	if diff := cmp.Diff(want, s.Must(200, "GET", "/pets", "").Body); diff != "" {
		t.Errorf("GET /pets (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(third, `{"id":3,`) {
		t.Errorf("the third pet is %s", third)
	}
}

// A store that does not know what is on disk ends the server, so that the next
// start reads what is there.
func TestFailedStoreEndsTheServer(t *testing.T) {
	s := start(t, t.TempDir())
	s.create("first")
	if err := os.Rename(s.Path("petstore.db"), s.Path("away.db")); err != nil {
		t.Skip(err) // some systems do not move open files
	}
	s.Must(503, "POST", "/pets", petBody("second"))
	s.exits(1)
	if log := s.Stderr.String(); strings.Count(log, "start the server again") != 1 || strings.Count(log, "\n") != 2 {
		t.Errorf("the log:\n%s", log)
	}
}
