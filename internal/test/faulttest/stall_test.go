//go:build linux

package faulttest

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/animalstore/internal/test/process"
)

// stalled starts a server in dir whose every sync takes so long.
func stalled(t *testing.T, dir string, stall time.Duration, flags ...string) *process.Server {
	t.Helper()
	return process.Serve(t, process.Command(dir, append([]string{"strace", "-D", "-f", "-o", "/dev/null", "-e", "trace=fdatasync",
		"-e", fmt.Sprintf("inject=fdatasync:delay_enter=%d", stall.Microseconds())}, serverArgs(t, flags...)...)...))
}

// TestHungDisk: SIGTERM ends a server soon after -drain, also while a sync does not return.
// strace keeps the process until the sync returns, and then it has its exit code.
func TestHungDisk(t *testing.T) {
	process.Tool(t, "strace")
	t.Parallel()
	dir := t.TempDir()
	start(t, dir).Stop() // creates the store
	s := stalled(t, dir, 10*time.Second, "-drain=1s")
	go func() { _, _ = s.Send("POST", "/pets", `{"name":"Rex","categoryId":1}`) }()
	s.Until("the creation is under way", func() bool { return s.Metric("petstore_connections") > 0 })
	time.Sleep(100 * time.Millisecond)
	_ = s.Signal(syscall.SIGTERM)
	if code := s.Wait(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if log := s.Stderr.String(); strings.Count(log, "level=ERROR") != 1 || !strings.Contains(log, "the process ends before the store is closed") {
		t.Errorf("logged %s", log)
	}
}

// TestStalledSync delays every sync of the server by a second. Reads of acknowledged
// pets must not wait for a sync: many are done while a create waits for one.
func TestStalledSync(t *testing.T) {
	process.Tool(t, "strace")
	t.Parallel()
	const (
		stall = time.Second
		body  = `{"name":"Rex","categoryId":1}`
	)
	dir := t.TempDir()
	s := start(t, dir)
	s.Must(http.StatusCreated, "POST", "/pets", body)
	s.Stop()
	s = stalled(t, dir, stall)
	began, created := time.Now(), make(chan process.Response, 1)
	go func() {
		r, _ := s.Send("POST", "/pets", body)
		created <- r
	}()
	reads := 0
	for ; len(created) == 0; reads++ {
		s.Must(http.StatusOK, "GET", "/pets/1", "")
	}
	took := time.Since(began)
	if r := <-created; r.Status != http.StatusCreated || took < stall || reads < 10 {
		t.Errorf("%d reads during a create of %v: %d %s", reads, took, r.Status, r.Body)
	}
	t.Logf("%d reads during a create of %v", reads, took.Round(time.Millisecond))
}

// TestBlockedLog: SIGTERM ends a server properly whose log has no reader, also before it serves.
func TestBlockedLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start(t, dir).Stop() // creates the store
	log, full, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	_ = full.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	for err == nil {
		_, err = full.Write(make([]byte, 100))
	}
	cmd := exec.Command(process.Build(t, refserver), "-addr=127.0.0.1:0", "-drain=1h")
	cmd.Dir, cmd.Stderr = dir, full
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(time.Second, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
	defer time.AfterFunc(patience, func() { _ = cmd.Process.Kill() }).Stop()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
