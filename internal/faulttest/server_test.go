//go:build linux

package faulttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/animalstore/internal/process"
)

const patience = process.Patience

// server is a running reference server.
type server struct {
	*process.Process

	t            *testing.T
	dir          string
	scheme, host string
	admin        string
	key          string
	took         time.Duration // from the start until it serves
}

// start starts a server in dir and waits until it serves. before, if any, is
// the command that runs it.
func start(t *testing.T, dir string, before ...string) *server {
	t.Helper()
	s, err := launch(t, dir, before...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// launch is start for a server that may end before it serves.
func launch(t *testing.T, dir string, before ...string) (*server, error) {
	t.Helper()
	args := append(before, serverBinary(t), "-addr=127.0.0.1:0", "-admin-addr=127.0.0.1:0")
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = process.Environ()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that what runs it ends with it
	began := time.Now()
	p, err := process.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{Process: p, t: t, dir: dir}
	t.Cleanup(func() {
		s.kill()
		s.wait()
	})
	a, err := s.Serving()
	if err != nil {
		return s, err
	}
	s.took = time.Since(began)
	s.scheme, s.host, _ = strings.Cut(strings.TrimSuffix(a.URL, "/v1"), "://")
	s.admin = strings.TrimPrefix(a.Admin, "http://")
	s.findKey()
	return s, nil
}

// findKey reads the key that the first start in a directory prints, and keeps
// it beside the directory for the later ones.
func (s *server) findKey() {
	s.t.Helper()
	kept := s.dir + ".key"
	if b, err := os.ReadFile(kept); err == nil {
		s.key = string(b)
		return
	}
	var err error
	if s.key, err = s.Key(); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(kept, []byte(s.key), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// until waits for what is to come about while the server runs.
func (s *server) until(what string, ok func() bool) {
	s.t.Helper()
	if err := s.Until(what, ok); err != nil {
		s.t.Fatal(err)
	}
}

// wait waits for the server to end, and returns its exit code.
func (s *server) wait() int {
	s.t.Helper()
	code, err := s.Wait()
	if err != nil {
		s.t.Fatal(err)
	}
	return code
}

// kill ends the server, and what runs it, at once.
func (s *server) kill() { _ = syscall.Kill(-s.Pid(), syscall.SIGKILL) }

// stop ends the server in good order.
func (s *server) stop() {
	s.t.Helper()
	_ = s.Signal(syscall.SIGTERM)
	if code := s.wait(); code != 0 {
		s.t.Fatalf("exit code %d:\n%s", code, s.Stderr.String())
	}
}

func (s *server) db() string { return filepath.Join(s.dir, "petstore.db") }

// answer is an answer, read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

// send sends a request with the server's key.
func (s *server) send(c *http.Client, method, path, body string, header ...string) (answer, error) {
	req, err := http.NewRequest(method, s.scheme+"://"+s.host+"/v1"+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := c.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(b)}, err
}

// must is send for a request whose answer has to come, with that status.
func (s *server) must(status int, method, path, body string, header ...string) answer {
	s.t.Helper()
	a, err := s.send(http.DefaultClient, method, path, body, header...)
	if err != nil || a.status != status {
		s.t.Fatalf("%s %s: %d %.300s (%v), want %d", method, path, a.status, a.body, err, status)
	}
	return a
}

// vars returns what the server's admin address counts.
func (s *server) vars() (v struct {
	Goroutines, Connections int
	Memstats                struct{ HeapAlloc, Sys uint64 }
	Store                   struct{ Pets, QueuedMessages int64 }
}) {
	s.t.Helper()
	resp, err := http.Get("http://" + s.admin + "/debug/vars")
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
		s.t.Fatal(err)
	}
	return v
}

// status returns a figure of /proc/PID/status, in kB.
func (s *server) status(name string) (n int) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Pid()))
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			_, _ = fmt.Sscan(rest, &n)
		}
	}
	return n
}

// descriptors returns how many the server has open.
func (s *server) descriptors() int {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.Pid()))
	if err != nil {
		s.t.Fatal(err)
	}
	return len(entries)
}

// command runs one of the server's commands and returns its standard output.
func command(t *testing.T, args ...string) ([]byte, error) {
	t.Helper()
	out, err := exec.Command(serverBinary(t), args...).Output()
	if e, ok := err.(*exec.ExitError); ok {
		err = fmt.Errorf("%w: %s", err, e.Stderr)
	}
	return out, err
}

// restore puts a copy in the place of a stopped server's file.
func restore(t *testing.T, s *server, copied string) {
	t.Helper()
	if err := os.Rename(copied, s.db()); err != nil {
		t.Fatal(err)
	}
}
