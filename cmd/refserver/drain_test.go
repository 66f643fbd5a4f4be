package main

import (
	"net/http"
	"syscall"
	"testing"

	"example.com/animalstore/internal/process"
)

// Before the address closes, /readyz is 503 for a second. A busy machine may
// miss that, but not every time.
func TestDrainTurnsAway(t *testing.T) {
	t.Parallel()
	for range 50 {
		s := process.Serve(t, command(t.TempDir()))
		begin(t, s)
		_ = s.Signal(syscall.SIGTERM)
		var ready, alive process.Response
		s.Until("/readyz changes", func() bool {
			ready, _ = s.Send("GET", "http://"+s.Host()+"/readyz", "")
			alive, _ = s.Send("GET", "http://"+s.Host()+"/healthz", "")
			return ready.Status != http.StatusOK
		})
		s.Kill()
		if ready.Status == http.StatusServiceUnavailable && alive.Status == http.StatusOK {
			return
		}
		t.Logf("/readyz: %d, /healthz: %d", ready.Status, alive.Status)
	}
	t.Error("/readyz is not 503 while the server stops and /healthz is 200")
}
