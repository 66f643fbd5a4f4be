//go:build linux

package faulttest

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// TestFailingCalls makes the n-th write, truncation or sync of a run fail, for
// every n, in every way that a disk fails. Then the power fails at a random
// moment of that run. strace counts the calls of each thread separately, so the
// recording says which call failed.
func TestFailingCalls(t *testing.T) {
	needStrace(t)
	parallel(t)
	_, random := rounds(0, 0)
	kinds := []struct {
		call, errno  string
		early, later int // the calls that fail in the short form: while the file is made, and after
	}{
		{"pwrite64", "ENOSPC", 3, 14},
		{"pwrite64", "EDQUOT", 3, 14},
		{"pwrite64", "EIO", 3, 14},
		{"ftruncate", "ENOSPC", 1, 0},
		{"ftruncate", "EFBIG", 1, 0},
		{"ftruncate", "EIO", 1, 0},
		{"fdatasync", "EIO", 3, 7},
		{"fdatasync", "ENOSPC", 3, 7},
		{"fsync", "EIO", 0, 3},
	}
	count := map[string]int{}
	for _, k := range kinds {
		for n := 1; n <= 400; n++ {
			if !*full && n != k.early && n != k.later {
				continue
			}
			what := fmt.Sprintf("call %d of %s fails with %s", n, k.call, k.errno)
			r := recordWriter(t, 8, "-e", fmt.Sprintf("inject=%s:error=%s:when=%d", k.call, k.errno, n))
			outcome := checkFailure(t, what, k.errno, r)
			count[outcome]++
			if outcome == neverCame {
				break // the calls after it do not come either
			}
			if outcome != refusedToOpen {
				cutAfter(t, what, r.calls, random.IntN)
			}
		}
	}
	report(t, "%d failed calls: %d times refused to open, %d changes refused, %d stores failed; %d calls did not come",
		count[refusedToOpen]+count[refusedChange]+count[storeFailed], count[refusedToOpen], count[refusedChange], count[storeFailed], count[neverCame])
}

// The outcomes of a failed call.
const (
	neverCame     = "the call did not come"
	refusedToOpen = "the store refused to open"
	refusedChange = "the store refused the change and went on"
	storeFailed   = "the store failed"
)

// checkFailure compares the results that a writer reported with the calls that
// failed.
func checkFailure(t *testing.T, what, errno string, r recording) string {
	t.Helper()
	o := r.outcome
	failures, fatal, closing := 0, false, false
	for _, c := range r.calls {
		if c.name == "write" {
			closing = false // the writer says how a change went
		}
		if c.injected {
			closing = true
			failures++
			// After a failed sync, or a failure that is not for lack of space,
			// nobody knows what is on disk.
			fatal = fatal || c.name == "fdatasync" || c.name == "fsync" || errno == "EIO"
		}
	}
	if len(o.other) > 0 && o.opened {
		t.Errorf("%s: the writer said %q", what, o.other)
	}
	if failures == 0 {
		if r.code != 0 || o.full+o.unavailable > 0 {
			t.Errorf("%s: nothing failed, and the writer ended with %d", what, r.code)
		}
		return neverCame
	}
	checkWriter(t, what, r.path, o.ledger)
	switch {
	case !o.opened:
		dir := filepath.Dir(r.path)
		if r.code != 3 || len(o.other) != 1 || !strings.Contains(o.other[0], dir) {
			t.Errorf("%s: the writer ended with %d and said %q", what, r.code, o.other)
		}
		if temporary, _ := filepath.Glob(dir + "/.*"); len(temporary) > 0 {
			t.Errorf("%s: %v was not removed", what, temporary)
		}
		return refusedToOpen
	case fatal:
		if r.code != 1 || o.failed == "" || o.full > 0 || strings.Contains(o.failed, "\n") {
			t.Errorf("%s: exit code %d, failed with %q, %d changes refused for lack of space; want 1, one line, 0", what, r.code, o.failed, o.full)
		}
		return storeFailed
	default:
		if r.code != 0 || o.full == 0 && !closing || o.unavailable > 0 {
			t.Errorf("%s: exit code %d, failed with %q, changes refused: %d for lack of space, %d for another reason", what, r.code, o.failed, o.full, o.unavailable)
		}
		return refusedChange
	}
}

// cutAfter makes the power fail at one moment of a run in which a call failed.
// What a failed call should have done is not on disk; what a failed sync should
// have written may be.
func cutAfter(t *testing.T, what string, calls []call, random func(int) int) {
	t.Helper()
	moment := random(len(calls))
	d := newDisk(t)
	for _, c := range calls[:moment+1] {
		if !c.injected {
			d.step(c)
		}
	}
	if !d.linked {
		return
	}
	c := cut{calls: len(d.pending)}
	if len(d.pending) > 0 {
		c.mask = func() bool { return random(2) == 0 }
	}
	d.check(fmt.Sprintf("%s, then the power at call %d", what, moment), d.image(c), -1)
}

// TestServerOnFailedCalls makes a sync fail under the server, which must then
// end with one line, and a write for lack of space, which must be refused.
func TestServerOnFailedCalls(t *testing.T) {
	needStrace(t)
	parallel(t)
	// createUntil creates pets until one has another status, which it returns.
	createUntil := func(s *server) (acknowledged, status int, body string) {
		for acknowledged = 0; acknowledged < 200; acknowledged++ {
			name := fmt.Sprint("pet-", acknowledged)
			r, err := s.Send("POST", "/pets", petBody(name), "Idempotency-Key", name)
			if err != nil {
				t.Fatal(err)
			}
			if r.Status != http.StatusCreated {
				return acknowledged, r.Status, r.Body
			}
		}
		t.Fatal("no call failed")
		return
	}
	s := start(t, t.TempDir(), inject("fdatasync:error=EIO:when=12")...)
	acknowledged, status, body := createUntil(s)
	if code := s.Wait(); status != http.StatusServiceUnavailable || code != 1 {
		t.Errorf("%d %s, then exit code %d", status, body, code)
	}
	if log := s.Stderr.String(); strings.Count(log, "\n") != 2 || !strings.Contains(log, "start the server again") || !strings.Contains(log, "input/output error") {
		t.Errorf("the log:\n%s", log)
	}
	s = start(t, s.Dir)
	for i := range acknowledged {
		name := fmt.Sprint("pet-", i)
		if r := s.Must(http.StatusCreated, "POST", "/pets", petBody(name), "Idempotency-Key", name); !strings.Contains(r.Body, fmt.Sprintf(`"id":%d,`, i+1)) {
			t.Errorf("the pet %d is %s", i+1, r.Body)
		}
	}
	s.Stop()

	s = start(t, t.TempDir(), inject("pwrite64:error=ENOSPC:when=25")...)
	if _, status, body := createUntil(s); status != http.StatusInsufficientStorage || !strings.Contains(body, `"status":507}`) {
		t.Errorf("a write without space: %d %s", status, body)
	}
	s.Must(http.StatusOK, "GET", "/pets", "")
	for after, refused := 0, 0; after < 5; { // each thread's 25th write fails once
		r, err := s.Send("POST", "/pets", petBody("after"))
		switch {
		case err == nil && r.Status == http.StatusCreated:
			after++
		case err != nil || r.Status != http.StatusInsufficientStorage || refused > 200:
			t.Fatalf("after a write without space: %d %s (%v)", r.Status, r.Body, err)
		default:
			refused++
		}
	}
	s.Stop()
	report(t, "1 failed sync, %d acknowledged, 0 lost; 1 write without space refused", acknowledged)
}
