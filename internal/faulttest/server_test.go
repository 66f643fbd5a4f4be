//go:build linux

package faulttest

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"example.com/animalstore/internal/process"
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
	return startAt(t, "127.0.0.1:0", dir, prefix...)
}

// startAt is start for a server at an address.
func startAt(t *testing.T, addr, dir string, prefix ...string) *server {
	t.Helper()
	cmd := process.Command(dir, serverArgs(t, prefix)...)
	cmd.Args = append(cmd.Args, "-addr="+addr)
	return &server{process.Serve(t, cmd), t}
}

func serverArgs(t *testing.T, prefix []string) []string {
	return append(prefix, process.Build(t, refserver), "-addr=127.0.0.1:0", "-admin-addr=127.0.0.1:0")
}

// inject returns a prefix that makes system calls of a process fail or wait.
// The tracer is a child of the process: signals reach the process itself.
func inject(fault string) []string {
	call, _, _ := strings.Cut(fault, ":")
	return []string{"strace", "-D", "-f", "-o", "/dev/null", "-e", "trace=" + call, "-e", "inject=" + fault}
}

// endInjection ends the fault of inject.
func (s *server) endInjection() {
	s.t.Helper()
	status := process.ReadFile(s.t, fmt.Sprintf("/proc/%d/status", s.Pid()))
	_, field, _ := strings.Cut(string(status), "TracerPid:")
	var tracer int
	if _, err := fmt.Sscan(field, &tracer); err != nil || tracer == 0 {
		s.t.Fatalf("the server has no tracer: %v", err)
	}
	if err := syscall.Kill(tracer, syscall.SIGKILL); err != nil {
		s.t.Fatal(err)
	}
}

// run runs a command of the reference server, and returns its standard output.
// The error has the standard error.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	code, stdout, stderr := process.Run(t, process.Command("", append([]string{process.Build(t, refserver)}, args...)...))
	if code != 0 {
		return stdout, fmt.Errorf("refserver %s: exit code %d: %s", args[0], code, stderr)
	}
	return stdout, nil
}

// mustRun is run for a command that must succeed.
func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	out, err := run(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
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

// descriptors returns the number of files that the server has open.
func (s *server) descriptors() int {
	s.t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.Pid()))
	if err != nil {
		s.t.Fatal(err)
	}
	return len(entries)
}
