//go:build linux

package faulttest

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"example.com/animalstore/internal/test/process"
)

// TestHungDisk: while a sync does not return for six seconds, its creation has no response,
// reads do not wait for it, and SIGTERM ends the server two seconds after -drain. strace
// keeps the process until the sync returns.
func TestHungDisk(t *testing.T) {
	strace := process.Tool(t, "strace")
	t.Parallel()
	const body = `{"name":"Rex","categoryId":1}`
	dir := t.TempDir()
	s := start(t, dir)
	s.Must(http.StatusCreated, "POST", "/pets", body)
	s.Stop()
	s = process.Serve(t, process.Command(dir, append([]string{strace, "-D", "-f", "-o", "/dev/null", "-e", "trace=fdatasync",
		"-e", "inject=fdatasync:delay_enter=6s"}, serverArgs(t, "-drain=1s")...)...))
	created := make(chan process.Response, 1)
	go func() {
		r, _ := s.Send("POST", "/pets", body)
		created <- r
	}()
	s.Until("the creation is under way", func() bool { return s.Metric("petstore_connections") > 0 })
	for range 20 {
		s.Must(http.StatusOK, "GET", "/pets/1", "")
	}
	_ = s.Signal(syscall.SIGTERM)
	if len(created) > 0 {
		t.Errorf("a response before the sync, or reads that waited for it: %+v", <-created)
	}
	if code := s.Wait(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if log := s.Stderr.String(); strings.Count(log, "level=ERROR") != 1 || !strings.Contains(log, "the process ends before the store is closed") {
		t.Errorf("logged %s", log)
	}
}
