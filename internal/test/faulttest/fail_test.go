//go:build linux

package faulttest

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
		{"pwrite64", "EFBIG", 14}, // a limit on the size of files
		{"pwrite64", "EDQUOT", 0},
		{"pwrite64", "EIO", 14},
		{"ftruncate", "ENOSPC", 1},
		{"ftruncate", "EFBIG", 0},
		{"ftruncate", "EIO", 0},
		{"fdatasync", "EIO", 7},
		{"fdatasync", "ENOSPC", 0},
		{"fsync", "EIO", 3},
	}
	failed := 0
	for _, k := range kinds {
		// fail makes the n-th call fail. It reports whether there was one.
		fail := func(n int) bool {
			what := fmt.Sprintf("call %d of %s fails with %s", n, k.call, k.errno)
			r := record(t, 16, "-e", fmt.Sprintf("inject=%s:error=%s:when=%d", k.call, k.errno, n))
			came := slices.ContainsFunc(r.calls, func(c call) bool { return c.injected })
			checkFailure(t, what, k.errno, came, r)
			if came {
				failed++
				r.cutPower(t, what, 1, random)
			}
			return came
		}
		if *full {
			for n := 1; fail(n); n++ {
			}
			continue
		}
		for n := k.short; n > 0 && !fail(n); n-- { // each thread may have made fewer calls
		}
	}
	t.Logf("%d failed calls", failed)
}

// checkFailure compares the responses of a server with the calls that failed, if any came.
func checkFailure(t *testing.T, what, errno string, came bool, r recording) {
	t.Helper()
	fatal, closing := false, false
	for _, c := range r.calls {
		if c.injected {
			closing = c.at.After(r.idle)
			// After a failed sync, or a failure that is not for lack of space,
			// nobody knows what is on disk.
			fatal = fatal || c.name == "fdatasync" || c.name == "fsync" || errno == "EIO"
		}
	}
	log := r.Stderr.String()
	errors := strings.Count(log, "level=ERROR")
	temporary, _ := filepath.Glob(filepath.Dir(r.store) + "/*.part")
	ok := false
	switch {
	case !r.started:
		ok = came && r.code == 1 && strings.Count(log, "\n") == 1 && strings.Contains(log, r.Dir)
	case !came:
		ok = r.code == 0 && r.others() == 0
	case fatal:
		ok = r.code == 1 && r.others(0, 503) == 0 && errors > 0 &&
			(closing || strings.Contains(log, "start the server again"))
	default: // changes were refused
		ok = r.code == 0 && r.others(507) == 0 && (closing || r.status[http.StatusInsufficientStorage] > 0)
	}
	if !ok || len(temporary) > 0 {
		t.Errorf("%s: exit code %d, responses by status: %v, temporary files %q, %s", what, r.code, r.status, temporary, log)
	}
	check(t, what, r.store, r.History, writers)
}
