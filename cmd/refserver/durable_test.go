package main

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What was acknowledged is there after a stop and after a kill, ids go on from
// where they were, and a repeated creation gives the first answer.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	key := s.key
	first := s.create(key, "first", "Idempotency-Key", "once")
	s.stop()

	s = start(t, dir)
	second := s.create(key, "second")
	if code := s.signal(syscall.SIGKILL); code == 0 {
		t.Fatal("the server was not killed")
	}

	s = start(t, dir)
	if again := s.create(key, "first", "Idempotency-Key", "once"); again != first {
		t.Errorf("the repeated creation gave %s, and %s at first", again, first)
	}
	third := s.create(key, "third")
	for i, body := range []string{first, second, third} {
		if got := idOf(t, body); got != int64(i+1) {
			t.Errorf("pet %d has id %d", i+1, got)
		}
	}
	want := "[" + strings.Join([]string{first, second, third}, ",") + "]"
	if diff := cmp.Diff(want, s.do("GET", s.URL+"/pets", key, "").body); diff != "" {
		t.Errorf("GET /pets (-want +got):\n%s", diff)
	}
}

// A store that does not know what is on disk ends the server, so that the next
// start reads the truth.
func TestFailedStoreEndsTheServer(t *testing.T) {
	s := start(t, t.TempDir())
	s.create(s.key, "first")
	if err := os.Rename(s.path("petstore.db"), s.path("away.db")); err != nil {
		t.Skip(err) // some systems keep open files in their place
	}
	r := s.do("POST", s.URL+"/pets", s.key, `{"name":"second","categoryId":1}`)
	if r.status != 503 {
		t.Errorf("POST /pets: %d %s", r.status, r.body)
	}
	if code := s.wait(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if log := s.Stderr.String(); strings.Count(log, "start the server again") != 1 || strings.Count(log, "\n") != 2 {
		t.Errorf("the log:\n%s", log)
	}
}
