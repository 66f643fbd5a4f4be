//go:build linux

package faulttest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/internal/process"
)

const patience = process.Patience

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

func serverArgs(t *testing.T, prefix []string) []string {
	return append(prefix, process.Build(t, "example.com/animalstore/cmd/refserver"), "-addr=127.0.0.1:0", "-admin-addr=127.0.0.1:0")
}

// inject returns a prefix that makes system calls of a process fail or wait.
// The tracer is a child of the process: signals reach the process itself.
func inject(fault string) []string {
	call, _, _ := strings.Cut(fault, ":")
	return []string{"strace", "-D", "-f", "-o", "/dev/null", "-e", "trace=" + call, "-e", "inject=" + fault}
}

// refserver runs a command of the reference server, and returns its standard
// output. The error has the standard error.
func refserver(t *testing.T, args ...string) (string, error) {
	t.Helper()
	exe := process.Build(t, "example.com/animalstore/cmd/refserver")
	code, stdout, stderr := process.Run(t, process.Command("", append([]string{exe}, args...)...))
	if code != 0 {
		return stdout, fmt.Errorf("refserver %s: exit code %d: %s", args[0], code, stderr)
	}
	return stdout, nil
}

// mustRefserver is refserver for a command that must succeed.
func mustRefserver(t *testing.T, args ...string) string {
	t.Helper()
	out, err := refserver(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (s *server) db() string { return s.Path("petstore.db") }

func (s *server) adminHost() string { return strings.TrimPrefix(s.Admin, "http://") }

// petBody is the body that creates a pet.
func petBody(name string) string {
	return fmt.Sprintf(`{"name":%q,"categoryId":%d,"status":"available"}`, name, len(name))
}

// create creates a pet.
func (s *server) create(name string) {
	s.t.Helper()
	s.Must(http.StatusCreated, "POST", "/pets", petBody(name))
}

// raw returns the text of a request with the key.
func (s *server) raw(method, target, fields, body string) string {
	if body != "" {
		fields += fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	return fmt.Sprintf("%s /v1%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n%s\r\n%s", method, target, s.Key, fields, body)
}

// dial opens a connection to the server.
func (s *server) dial() *net.TCPConn {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.Host())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return conn.(*net.TCPConn)
}

// vars returns the counters of the admin address.
func (s *server) vars() (v struct {
	Connections int
	Store       struct{ Pets, QueuedMessages int64 }
}) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.Must(http.StatusOK, "GET", s.Admin+"/debug/vars", "").Body), &v); err != nil {
		s.t.Fatal(err)
	}
	return v
}

// proc reads a file of /proc/PID.
func (s *server) proc(name string) []byte {
	s.t.Helper()
	return process.ReadFile(s.t, fmt.Sprintf("/proc/%d/%s", s.Pid(), name))
}

// memory returns a figure of /proc/PID/status, such as VmRSS, in kB.
func (s *server) memory(name string) (kB int) {
	s.t.Helper()
	for sc := bufio.NewScanner(bytes.NewReader(s.proc("status"))); sc.Scan(); {
		if rest, ok := strings.CutPrefix(sc.Text(), name+":"); ok {
			_, _ = fmt.Sscan(rest, &kB)
		}
	}
	return kB
}

// processor returns the processor time that the server has used.
func (s *server) processor() time.Duration {
	s.t.Helper()
	b := s.proc("stat")
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	var user, system int64
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		s.t.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond // ticks of 1/100 s
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
