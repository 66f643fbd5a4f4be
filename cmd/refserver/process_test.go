package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/animalstore/internal/process"
)

// TestMain makes the test binary the server too, so that the tests run it as
// what it is: a process with files, sockets, signals and an exit code.
func TestMain(m *testing.M) {
	if os.Getenv("REFSERVER_TEST_RUN") != "" {
		if len(os.Args) > 2 && os.Args[2] == "-direct" {
			misbehave(os.Getenv("REFSERVER_TEST_CHECK"))
		}
		os.Exit(program().Main())
	}
	os.Exit(m.Run())
}

// misbehave does what a file could do to a process that reads it without care.
func misbehave(how string) {
	switch how {
	case "hang":
		time.Sleep(time.Hour)
	case "recurse":
		misbehave(how)
	case "swell":
		limitMemory(checkMemory)
		for b := [][]byte{}; ; {
			b = append(b, bytes.Repeat([]byte{1}, 1<<28))
		}
	case "fault":
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Signal(syscall.SIGBUS)
		}
		time.Sleep(time.Hour)
	}
}

// command returns the server's command line as a process that has not been
// started, in a directory of its own.
func command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir = dir
	cmd.Env = process.Environ("REFSERVER_TEST_RUN=1")
	return cmd
}

// run runs a command to its end.
func run(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return finish(t, command(dir, args...))
}

func finish(t *testing.T, cmd *exec.Cmd) (code int, stdout, stderr string) {
	t.Helper()
	p, err := process.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	if code, err = p.Wait(); err != nil {
		t.Fatal(err)
	}
	return code, p.Stdout.String(), p.Stderr.String()
}

// server is a running server.
type server struct {
	*process.Process
	process.Addresses

	t   *testing.T
	dir string
	key string // of the first start
}

// start starts a server on a free port and waits until it serves. The server
// that is the first in dir makes a key; the later ones' field is empty.
func start(t *testing.T, dir string, args ...string) *server {
	t.Helper()
	return startCommand(t, command(dir, append([]string{"-addr=127.0.0.1:0"}, args...)...))
}

func startCommand(t *testing.T, cmd *exec.Cmd) *server {
	t.Helper()
	s := &server{t: t, dir: cmd.Dir}
	_, err := os.Stat(s.path("petstore.keys"))
	first := errors.Is(err, fs.ErrNotExist)
	if s.Process, err = process.Start(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	if s.Addresses, err = s.Serving(); err != nil {
		t.Fatal(err)
	}
	if first {
		if s.key, err = s.Key(); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// until waits for what is to come about while the server runs.
func (s *server) until(what string, ok func() bool) {
	s.t.Helper()
	if err := s.Until(what, ok); err != nil {
		s.t.Fatal(err)
	}
}

// signal sends the server a signal and returns its exit code.
func (s *server) signal(sig os.Signal) int {
	s.t.Helper()
	if err := s.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
	return s.wait()
}

func (s *server) wait() int {
	s.t.Helper()
	code, err := s.Wait()
	if err != nil {
		s.t.Fatal(err)
	}
	return code
}

// stop ends the server in good order.
func (s *server) stop() {
	s.t.Helper()
	if code := s.signal(syscall.SIGTERM); code != 0 {
		s.t.Fatalf("exit code %d:\n%s", code, s.Stderr.String())
	}
}

// response is an answer, read to its end.
type response struct {
	status int
	header http.Header
	body   string
}

// do sends a request, with the key and whatever header fields come in pairs.
func (s *server) do(method, url, key, body string, header ...string) response {
	s.t.Helper()
	r, err := send(oneShot, method, url, key, body, header...)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// oneShot keeps no connections, which a server that stops would wait for.
var oneShot = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

func send(client *http.Client, method, url, key, body string, header ...string) (response, error) {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return response{}, err
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := client.Do(req)
	if err != nil {
		return response{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return response{resp.StatusCode, resp.Header, string(b)}, err
}

// create adds a pet and returns the body of the answer.
func (s *server) create(key, name string, header ...string) string {
	s.t.Helper()
	r := s.do("POST", s.URL+"/pets", key, fmt.Sprintf(`{"name":%q,"categoryId":7}`, name), header...)
	if r.status != http.StatusCreated {
		s.t.Fatalf("POST /pets: %d %s", r.status, r.body)
	}
	return r.body
}

// idOf returns the id in the body of an answer.
func idOf(t *testing.T, body string) int64 {
	t.Helper()
	var id int64
	if n, _ := fmt.Sscanf(body, `{"id":%d,`, &id); n != 1 {
		t.Fatalf("no pet: %s", body)
	}
	return id
}

// host returns the host and port of the server.
func (s *server) host() string {
	u, err := url.Parse(s.URL)
	if err != nil {
		s.t.Fatal(err)
	}
	return u.Host
}

// oneLine checks that a command that failed has said why in one line.
func oneLine(t *testing.T, stderr string, parts ...string) {
	t.Helper()
	if strings.Count(stderr, "\n") != 1 || !strings.HasSuffix(stderr, "\n") {
		t.Errorf("standard error is not one line:\n%s", stderr)
	}
	for _, p := range append(parts, "refserver: ") {
		if !strings.Contains(stderr, p) {
			t.Errorf("standard error %q; want it to say %q", stderr, p)
		}
	}
}

// path returns that of a file in the server's directory.
func (s *server) path(name string) string { return filepath.Join(s.dir, name) }
