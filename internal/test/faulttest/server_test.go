//go:build linux

package faulttest

import (
	"fmt"
	"net/http"
	"testing"

	"example.com/animalstore/internal/test/process"
)

const (
	patience  = process.Patience
	refserver = "example.com/animalstore/cmd/refserver"
)

// server is a running reference server.
type server struct {
	*process.Server
	t *testing.T
}

// start starts a server in dir and waits until it serves. prefix is the
// command that runs it, if any.
func start(t *testing.T, dir string, prefix ...string) *server {
	t.Helper()
	return &server{process.Serve(t, process.Command(dir, serverArgs(t, prefix)...)), t}
}

// startWith is start for a server with more flags.
func startWith(t *testing.T, dir string, flags ...string) *server {
	t.Helper()
	return &server{process.Serve(t, process.Command(dir, append(serverArgs(t, nil), flags...)...)), t}
}

func serverArgs(t *testing.T, prefix []string) []string {
	return append(prefix, process.Build(t, refserver), "-addr=127.0.0.1:0", "-admin-addr=127.0.0.1:0")
}

func (s *server) db() string { return s.Path("petstore.db") }

// create creates the pet of a name.
func (s *server) create(name string) {
	s.t.Helper()
	s.Must(http.StatusCreated, "POST", "/pets", petBody(name))
}

// repeat sends the write of a name, which must succeed, and returns the body.
func (s *server) repeat(name string) []byte {
	s.t.Helper()
	path, body := write(name)
	r, err := s.Send("POST", path, body, "Idempotency-Key", name)
	if err != nil || r.Status != http.StatusCreated && r.Status != http.StatusAccepted {
		s.t.Fatalf("repeated write of %s: %d %.300s (%v)", name, r.Status, r.Body, err)
	}
	return []byte(r.Body)
}

// goroutines returns the number of goroutines of the server.
func (s *server) goroutines() (n int) {
	s.t.Helper()
	profile := s.Must(http.StatusOK, "GET", s.Admin+"/debug/pprof/goroutine?debug=1", "").Body
	if _, err := fmt.Sscanf(profile, "goroutine profile: total %d", &n); err != nil {
		s.t.Fatal(err)
	}
	return n
}
