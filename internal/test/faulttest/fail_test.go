//go:build linux

package faulttest

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"example.com/animalstore/internal/test/history"
	"example.com/animalstore/internal/test/process"
)

// TestFailingCalls makes the n-th write, truncation or sync of a server fail,
// for every n, in every way that a disk fails. Then the power fails at a random
// moment of that run. strace counts the calls of each thread separately, so the
// recording says which call failed.
func TestFailingCalls(t *testing.T) {
	process.Tool(t, "strace")
	t.Parallel()
	_, random := rounds(0, 0)
	kinds := []struct {
		call, errno string
		short       int // the call that fails in the short form; 0: none
	}{
		{"pwrite64", "ENOSPC", 14},
		{"pwrite64", "EDQUOT", 0},
		{"pwrite64", "EIO", 14},
		{"ftruncate", "ENOSPC", 1},
		{"ftruncate", "EFBIG", 0},
		{"ftruncate", "EIO", 0},
		{"fdatasync", "EIO", 7},
		{"fdatasync", "ENOSPC", 0},
		{"fsync", "EIO", 3},
	}
	count := map[string]int{}
	for _, k := range kinds {
		// fail makes the n-th call fail. It reports whether there was one.
		fail := func(n int) bool {
			what := fmt.Sprintf("call %d of %s fails with %s", n, k.call, k.errno)
			r := record(t, 8, "-e", fmt.Sprintf("inject=%s:error=%s:when=%d", k.call, k.errno, n))
			outcome := checkFailure(t, what, k.errno, r)
			count[outcome]++
			if outcome != neverCame && outcome != refusedToStart {
				cutAfter(t, what, r, random)
			}
			return outcome != neverCame
		}
		if *full {
			for n := 1; fail(n); n++ {
			}
			continue
		}
		for n := k.short; n > 0 && !fail(n); n-- { // each thread may have made fewer calls
		}
	}
	t.Logf("%d failed calls: %d times refused to start, %d changes refused, %d servers ended; %d calls did not come",
		count[refusedToStart]+count[refusedChange]+count[serverEnded], count[refusedToStart], count[refusedChange], count[serverEnded], count[neverCame])
}

// The outcomes of a failed call.
const (
	neverCame      = "the call did not come"
	refusedToStart = "the server refused to start"
	refusedChange  = "the server refused the change and went on"
	serverEnded    = "the server ended"
)

// checkFailure compares the responses of a server with the calls that failed.
func checkFailure(t *testing.T, what, errno string, r recording) string {
	t.Helper()
	failures, fatal, closing := 0, false, false
	for _, c := range r.calls {
		if c.injected {
			failures++
			closing = c.at.After(r.idle)
			// After a failed sync, or a failure that is not for lack of space,
			// nobody knows what is on disk.
			fatal = fatal || c.name == "fdatasync" || c.name == "fsync" || errno == "EIO"
		}
	}
	log := r.Stderr.String()
	if r.load == nil {
		if failures == 0 || r.code != 1 || strings.Count(log, "\n") != 1 || !strings.Contains(log, r.Dir) {
			t.Errorf("%s: the server did not start: exit code %d, %s", what, r.code, log)
		}
		if temporary, _ := filepath.Glob(filepath.Dir(r.store) + "/.*"); len(temporary) > 0 {
			t.Errorf("%s: %v was not removed", what, temporary)
		}
		check(t, what, r.store, history.New(), 0)
		return refusedToStart
	}
	check(t, what, r.store, r.History, writers)
	full, unavailable := r.status[http.StatusInsufficientStorage], r.status[http.StatusServiceUnavailable]
	switch {
	case failures == 0:
		if r.code != 0 || r.others() > 0 {
			t.Errorf("%s: nothing failed. Exit code %d, responses by status: %v, %s", what, r.code, r.status, log)
		}
		return neverCame
	case fatal:
		if r.code != 1 || r.others(0, 503) > 0 ||
			strings.Count(log, "level=ERROR") > 2 || !strings.Contains(log, "level=ERROR") || // of a request and the server
			!closing && !strings.Contains(log, "start the server again") {
			t.Errorf("%s: exit code %d, responses by status: %v, %s", what, r.code, r.status, log)
		}
		return serverEnded
	default:
		if r.code != 0 || full == 0 && !closing || unavailable > 0 || r.others(507) > 0 {
			t.Errorf("%s: exit code %d, responses by status: %v, %s", what, r.code, r.status, log)
		}
		return refusedChange
	}
}

// cutAfter makes the power fail at one moment of a run in which a call failed.
// What a failed call should have done is not on disk; what a failed sync should
// have written may be.
func cutAfter(t *testing.T, what string, r recording, random *rand.Rand) {
	t.Helper()
	moment := random.IntN(len(r.calls))
	var d disk
	for _, c := range r.calls[:moment+1] {
		if !c.injected {
			d.step(c)
		}
	}
	if !d.linked {
		return
	}
	d.check(t, fmt.Sprintf("%s, then the power at call %d", what, moment), d.torn(random), r.At(r.calls[moment].at))
}
