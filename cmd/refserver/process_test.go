package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"example.com/animalstore/internal/process"
)

// TestMain makes the test binary the server too, so that the tests run it as a
// process with files, sockets, signals and an exit code.
func TestMain(m *testing.M) {
	if os.Getenv("REFSERVER_TEST_RUN") != "" {
		os.Exit(program().Main())
	}
	flag.Parse()
	_ = flag.Set("test.parallel", "8") // the tests spend their time waiting
	os.Exit(m.Run())
}

// command returns a command line of the server that has not been started.
func command(dir string, args ...string) *exec.Cmd {
	cmd := process.Command(dir, append([]string{os.Args[0]}, args...)...)
	cmd.Env = append(cmd.Env, "REFSERVER_TEST_RUN=1", "PETSTORE_ADDR=127.0.0.1:0")
	return cmd
}

// oneLine checks that standard error is one line that has the parts.
func oneLine(t *testing.T, stderr string, parts ...string) {
	t.Helper()
	if strings.Count(stderr, "\n") != 1 || !strings.HasSuffix(stderr, "\n") {
		t.Errorf("standard error is not one line:\n%s", stderr)
	}
	for _, p := range append(parts, "refserver: ") {
		if !strings.Contains(stderr, p) {
			t.Errorf("standard error %q lacks %q", stderr, p)
		}
	}
}

// server is a running server.
type server struct {
	*process.Server
	t *testing.T
}

// start starts a server on a free port and waits until it serves.
func start(t *testing.T, dir string, args ...string) *server {
	t.Helper()
	return startCommand(t, command(dir, args...))
}

func startCommand(t *testing.T, cmd *exec.Cmd) *server {
	t.Helper()
	return &server{process.Serve(t, cmd), t}
}

// petBody is the body that creates a pet.
func petBody(name string) string { return fmt.Sprintf(`{"name":%q,"categoryId":7}`, name) }

// create creates a pet and returns the body of the response.
func (s *server) create(name string, fields ...string) string {
	s.t.Helper()
	return s.Must(http.StatusCreated, "POST", "/pets", petBody(name), fields...).Body
}

// root returns the URL of the host.
func (s *server) root() string { return strings.TrimSuffix(s.URL, "/v1") }
