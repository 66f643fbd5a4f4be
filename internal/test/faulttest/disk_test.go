//go:build linux

package faulttest

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/animalstore/internal/test/process"
)

// TestDiskFull fills the disk of the server at many points of a commit. The
// change must be refused with 507; reads, and changes when there is room again,
// must succeed without a restart.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	n, random := rounds(2, 30)
	dir := mount(t, "size=40m,mode=700")
	filler := filepath.Join(dir, "filler")
	s := start(t, dir)
	acked := newLedger()
	// create sends a pet that takes many pages.
	create := func() process.Response {
		key := fmt.Sprint(len(acked.names))
		r, err := s.Send("POST", "/pets", petBody(strings.Repeat("x", 20_000)+key), "Idempotency-Key", key)
		if err != nil {
			t.Fatal(err)
		}
		if r.Status == http.StatusCreated {
			acked.acknowledge([]byte(r.Body))
		}
		return r
	}
	create()
	for round := range n {
		room := max(0, space(t, dir)-random.IntN(40)*4096)
		process.WriteFile(t, filler, make([]byte, room))
		r := create()
		for r.Status == http.StatusCreated {
			r = create()
		}
		if r.Status != http.StatusInsufficientStorage || !strings.HasSuffix(r.Body, `"status":507}`) {
			t.Fatalf("round %d: %d %.300s", round, r.Status, r.Body)
		}
		s.Must(http.StatusOK, "GET", "/pets/1", "")
		s.Must(http.StatusOK, "GET", "/pets?status=available&limit=1", "")
		if err := syscall.Unlink(filler); err != nil {
			t.Fatal(err)
		}
		// A child of another test may have the filler open until it executes its own program.
		s.Until("there is space again", func() bool { return space(t, dir) >= room/2 })
		if r := create(); r.Status != http.StatusCreated {
			t.Fatalf("round %d: %d %.300s when there is room again", round, r.Status, r.Body)
		}
	}
	// A limit on the size of files has the same effect.
	limit := func(size string) {
		if out, err := exec.Command("prlimit", "--fsize="+size+":", fmt.Sprint("--pid=", s.Pid())).CombinedOutput(); err != nil {
			t.Fatalf("prlimit: %v %s", err, out)
		}
	}
	info, err := os.Stat(s.db())
	if err != nil {
		t.Fatal(err)
	}
	limit(fmt.Sprint(info.Size()))
	for r := create(); r.Status != http.StatusInsufficientStorage; r = create() {
		if r.Status != http.StatusCreated {
			t.Fatalf("at the limit: %d %.300s", r.Status, r.Body)
		}
	}
	limit("unlimited")
	if r := create(); r.Status != http.StatusCreated {
		t.Fatalf("without a limit again: %d %.300s", r.Status, r.Body)
	}
	s.Stop()
	if extra, _ := acked.check(t, "after the last round", s.db()); len(extra) > 0 {
		t.Errorf("%.50q were refused, but are in the store", extra)
	}
	t.Logf("%d times full, %d pets acknowledged", n, len(acked.names))
}
