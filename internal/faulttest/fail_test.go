//go:build linux

package faulttest

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// TestFailingCalls has the n-th write, truncation or sync of a run fail, for
// every n, in every way that a disk fails. strace counts the calls of each
// thread by itself, so which of the run's calls it was is read from the
// recording.
func TestFailingCalls(t *testing.T) {
	needStrace(t)
	_, random := times(t, 4, 400)
	kinds := []struct{ call, errno string }{
		{"pwrite64", "ENOSPC"}, {"pwrite64", "EDQUOT"}, {"pwrite64", "EIO"},
		{"ftruncate", "ENOSPC"}, {"ftruncate", "EFBIG"}, {"ftruncate", "EIO"},
		{"fdatasync", "EIO"}, {"fdatasync", "ENOSPC"}, {"fsync", "EIO"},
	}
	count := map[string]int{}
	for _, k := range kinds {
		for n := 1; n <= 400; n++ {
			if !*full && n != 3 && n != 14 { // one while the file is made, one behind
				continue
			}
			inject := fmt.Sprintf("inject=%s:error=%s:when=%d", k.call, k.errno, n)
			what := fmt.Sprintf("the call %d, %s failing with %s", n, k.call, k.errno)
			path, h, calls, code := recordWriter(t, 8, "-e", inject)
			outcome := judgeFailure(t, what, k.call, k.errno, path, h, calls, code)
			count[k.call+" "+k.errno+": "+outcome]++
			if outcome == "never came" {
				break // and so will none after it
			}
			if outcome != "refused on opening" {
				cutAfter(t, what, path, calls, random.IntN)
			}
		}
	}
	for what, n := range count {
		t.Logf("%s: %d", what, n)
	}
}

// judgeFailure holds what a writer said against what failed under it.
func judgeFailure(t *testing.T, what, name, errno, path string, h told, calls []call, code int) string {
	t.Helper()
	noSpace := errno != "EIO"
	failures, fatal := 0, false
	for _, c := range calls {
		if !c.injected {
			continue
		}
		failures++
		// A sync, or anything but want of space, leaves open what is on disk.
		fatal = fatal || c.name == "fdatasync" || c.name == "fsync" || !noSpace
	}
	if len(h.other) > 0 && h.opened {
		t.Errorf("%s: the writer said %q", what, h.other)
	}
	switch {
	case failures == 0:
		if code != 0 || h.full+h.unavailable > 0 {
			t.Errorf("%s: nothing failed, and the writer ended with %d", what, code)
		}
		return "never came"
	case !h.opened: // the file could not be made: one line, and nothing stays
		if code != 3 || len(h.other) != 1 || !strings.Contains(h.other[0], filepath.Dir(path)) {
			t.Errorf("%s: the writer ended with %d, saying %q", what, code, h.other)
		}
		if left, _ := filepath.Glob(filepath.Dir(path) + "/.*"); len(left) > 0 {
			t.Errorf("%s: %v is left", what, left)
		}
		hold(t, what, path, h)
		return "refused on opening"
	case fatal && (code != 1 || h.failed == "" || h.full > 0):
		t.Errorf("%s: the store has not failed: exit code %d, %d refused for want of room", what, code, h.full)
	case fatal && strings.Contains(h.failed, "\n"):
		t.Errorf("%s: the reason is more than one line: %q", what, h.failed)
	case !fatal && (code != 0 || h.full == 0 || h.unavailable > 0):
		t.Errorf("%s: the store did not go on: exit code %d, %d refused for want of room, %d for another reason: %s", what, code, h.full, h.unavailable, h.failed)
	}
	hold(t, what, path, h)
	if fatal {
		return "the store failed"
	}
	return "refused, and the store went on"
}

// cutAfter has the power fail at one moment of a run in which a call failed.
// What a failed call would have done is not on the disk; what a failed sync
// was for may be or not.
func cutAfter(t *testing.T, what, path string, calls []call, random func(int) int) {
	t.Helper()
	moment := random(len(calls))
	d := &disk{t: t, told: hear("")}
	for _, c := range calls[:moment+1] {
		if !c.injected {
			d.step(c)
		}
	}
	if !d.linked {
		return
	}
	c := cut{calls: len(d.pending), mask: func() bool { return random(2) == 0 }}
	if len(d.pending) == 0 {
		c.mask = nil
	}
	d.look(fmt.Sprintf("%s, then a cut at call %d", what, moment), d.image(c), nil)
}

// TestServerEnds lets a sync fail under the server, and a write for want of
// room.
func TestServerEnds(t *testing.T) {
	needStrace(t)
	run := func(inject string) *server {
		call, _, _ := strings.Cut(inject, ":")
		return start(t, t.TempDir(), "strace", "-f", "-o", "/dev/null", "-e", "trace="+call, "-e", "inject="+inject)
	}
	create := func(s *server, i int) answer {
		name := fmt.Sprint("pet-", i)
		a, err := s.send(http.DefaultClient, "POST", "/pets", petBody(name), "Idempotency-Key", name)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}

	s := run("fdatasync:error=EIO:when=12")
	acknowledged := 0
	for a := create(s, acknowledged); a.status != http.StatusServiceUnavailable; a = create(s, acknowledged) {
		if acknowledged++; a.status != http.StatusCreated || acknowledged > 100 {
			t.Fatalf("the creation %d: %d %s", acknowledged, a.status, a.body)
		}
	}
	if code := s.wait(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if strings.Count(s.Stderr.String(), "\n") != 2 || !strings.Contains(s.Stderr.String(), "start the server again") || !strings.Contains(s.Stderr.String(), "input/output error") {
		t.Errorf("the log:\n%s", s.Stderr.String())
	}
	s = start(t, s.dir)
	for i := range acknowledged {
		if a := s.must(http.StatusCreated, "POST", "/pets", petBody(fmt.Sprint("pet-", i)), "Idempotency-Key", fmt.Sprint("pet-", i)); !strings.Contains(a.body, fmt.Sprintf(`"id":%d,`, i+1)) {
			t.Errorf("the pet %d is %s", i+1, a.body)
		}
	}
	s.stop()

	s = run("pwrite64:error=ENOSPC:when=25")
	full, after := 0, 0
	for i := 0; after < 5; i++ {
		switch a := create(s, i); {
		case a.status == http.StatusCreated && full > 0:
			after++
		case a.status == http.StatusInsufficientStorage && strings.Contains(a.body, `"status":507}`):
			full++
			s.must(http.StatusOK, "GET", "/pets", "")
		case a.status != http.StatusCreated || i > 200:
			t.Fatalf("the creation %d: %d %s", i, a.status, a.body)
		}
	}
}
