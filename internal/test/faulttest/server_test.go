//go:build linux

package faulttest

import (
	"net"
	"testing"
	"time"

	"example.com/animalstore/internal/test/process"
)

const (
	patience  = process.Patience
	refserver = "example.com/animalstore/cmd/refserver"
)

// start starts a reference server in dir and waits until it serves.
func start(t *testing.T, dir string, flags ...string) *process.Server {
	t.Helper()
	return process.Serve(t, process.Command(dir, serverArgs(t, flags...)...))
}

// serverArgs returns the command line of a reference server.
func serverArgs(t *testing.T, flags ...string) []string {
	return append([]string{process.Build(t, refserver), "-addr=127.0.0.1:0", "-admin-addr=127.0.0.1:0"}, flags...)
}

// mustRun runs a command of the reference server that must succeed, and returns its
// standard output.
func mustRun(t *testing.T, dir string, args ...string) string {
	t.Helper()
	code, stdout, stderr := process.Run(t, process.Command(dir, append([]string{process.Build(t, refserver)}, args...)...))
	if code != 0 {
		t.Fatalf("refserver %q: exit code %d\n%s", args, code, stderr)
	}
	return stdout
}

// dial opens a connection to a server, which is closed at the end of the test.
func dial(t *testing.T, s *process.Server) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", s.Host())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c.(*net.TCPConn)
}

// post returns the head of a request that creates a pet, without the fields of its body's
// length and the empty line.
func post(s *process.Server) string {
	return "POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + s.Key + "\r\nContent-Type: application/json\r\n"
}

// database returns the path of a server's store.
func database(s *process.Server) string { return s.Path("petstore.db") }
