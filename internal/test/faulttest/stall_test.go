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
	began, created := time.Now(), make(chan bool)
	go func() {
		if r, err := s.Send("POST", "/pets", body); err != nil || r.Status != http.StatusCreated {
			t.Errorf("the create: %d %s, %v", r.Status, r.Body, err)
		}
		close(created)
	}()
	reads := 0
	for waits := true; waits; reads++ {
		s.Must(http.StatusOK, "GET", "/pets/1", "")
		select {
		case <-created:
			waits = false
		default:
		}
	}
	took := time.Since(began)
	if took < stall || reads < 10 {
		t.Errorf("%d reads during a create of %v", reads, took)
	}
	t.Logf("%d reads during a create of %v", reads, took.Round(time.Millisecond))
}
