//go:build linux

package faulttest

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"example.com/animalstore/internal/test/process"
)

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
	s = process.Serve(t, process.Command(dir, append([]string{"strace", "-D", "-f", "-o", "/dev/null", "-e", "trace=fdatasync",
		"-e", fmt.Sprintf("inject=fdatasync:delay_enter=%d", stall.Microseconds())}, serverArgs(t)...)...))
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
