//go:build linux

package faulttest

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/animalstore/internal/process"
)

// TestDiskFull fills the disk of the server at many points of a commit. The
// change must be refused with 507; reads, and changes when there is room again,
// must succeed without a restart.
func TestDiskFull(t *testing.T) {
	parallel(t)
	n, random := rounds(2, 60)
	dir := mount(t, "size=40m,mode=700")
	filler := filepath.Join(dir, "filler")
	s := start(t, dir)
	acked := newLedger()
	// create sends a pet that takes many pages. It returns 0 if the pet was created,
	// otherwise the response.
	create := func() (status int, body string) {
		key := fmt.Sprint(len(acked.names))
		r, err := s.Send("POST", "/pets", petBody(strings.Repeat("x", 20_000)+key), "Idempotency-Key", key)
		if err != nil {
			t.Fatal(err)
		}
		if r.Status == http.StatusCreated {
			acked.acknowledge([]byte(r.Body))
			return 0, ""
		}
		return r.Status, r.Body
	}
	create()
	for round := range n {
		room := max(0, space(t, dir)-random.IntN(40)*4096)
		process.WriteFile(t, filler, make([]byte, room))
		status, body := create()
		for status == 0 {
			status, body = create()
		}
		if status != http.StatusInsufficientStorage || !strings.HasSuffix(body, `"status":507}`) {
			t.Fatalf("round %d: %d %.300s", round, status, body)
		}
		got := s.Metric(`petstore_requests_total{operation="createPet",status="507"}`) + s.Metric(`petstore_requests_total{operation="submitMessage",status="507"}`)
		if int(got) != round%2+1 {
			t.Errorf("round %d: the metrics count %v refusals since the start", round, got)
		}
		s.Must(http.StatusOK, "GET", "/pets/1", "")
		s.Must(http.StatusOK, "GET", "/pets?status=available&limit=1", "")
		if err := syscall.Unlink(filler); err != nil {
			t.Fatal(err)
		}
		// A child of another test may have the filler open until it executes its own program.
		s.Until("there is space again", func() bool { return space(t, dir) >= room/2 })
		if status, body := create(); status != 0 {
			t.Fatalf("round %d: %d %.300s when there is room again", round, status, body)
		}
		if round%2 == 1 {
			s.Stop()
			s = start(t, dir)
		}
	}
	s.Stop()
	if extra, _ := acked.check(t, "after the last round", s.db()); len(extra) > 0 {
		t.Errorf("%.50q were refused, but are in the store", extra)
	}
	report(t, "%d times full, %d times 507, %d pets acknowledged, 0 lost", n, n, len(acked.names))
}

// space returns the bytes that are free on a file system.
func space(t *testing.T, dir string) int {
	t.Helper()
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	return int(st.Bavail) * int(st.Bsize)
}

// TestDiskFullOnFirstStart starts servers on disks that are full, with a little
// more room each time. Such a start must fail with one line, and succeed when
// there is room.
func TestDiskFullOnFirstStart(t *testing.T) {
	parallel(t)
	sizes, _ := rounds(6, 24)
	failed := 0
	for i := range sizes {
		kB := 4 + 8*i
		dir := mount(t, fmt.Sprintf("size=%dk,mode=700", kB))
		p, err := process.TryServe(t, process.Command(dir, serverArgs(t, nil)...))
		if err != nil {
			failed++
			if code, log := p.Wait(), p.Log(); code != 1 || strings.Count(log, "\n") != 1 || !strings.Contains(log, "no space left on device") {
				t.Errorf("with %d kB: exit code %d, %q", kB, code, log)
			}
			remount(t, dir, 0, "size=40m")
			s := start(t, dir)
			s.create("Rex")
			p = s.Server
		}
		p.Stop()
	}
	if failed == 0 || failed == sizes {
		t.Errorf("the first start failed on %d of %d disks", failed, sizes)
	}
	report(t, "%d sizes of disk, %d too small, %d started with more room", sizes, failed, failed)
}
