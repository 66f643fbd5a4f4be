// Package postgres runs PostgreSQL on this machine, for tests: a [Server] alone, or
// a [Cluster] of Patroni.
//
// A test calls [Run] or [RunCluster]. If the process runs as root, PostgreSQL runs
// as the user postgres.
package postgres

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/animalstore/internal/process"
)

// Server is a PostgreSQL server without standbys. The process is nil before the
// first start.
type Server struct {
	*process.Process
	URL string // for clients; the user is a superuser without a password

	dir  string
	args []string // of the program postgres
}

// New starts a server with new data, in a temporary directory. The settings have the
// form name=value.
func New(settings ...string) (s *Server, err error) {
	dir, err := newDir()
	if err != nil {
		return nil, err
	}
	s = &Server{dir: dir}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	data := filepath.Join(dir, "data")
	cmd := process.Command(dir, filepath.Join(programs(), "initdb"), "--pgdata="+data, "--username=postgres", "--auth=trust",
		"--encoding=UTF8", "--locale=C", "--data-checksums", "--no-sync")
	if err := prepare(cmd, syscall.SIGKILL); err != nil {
		return nil, err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	address := process.FreeAddress()
	_, port, _ := strings.Cut(address, ":")
	s.URL = databaseURL("postgres", "postgres", address)
	s.args = []string{filepath.Join(programs(), "postgres"), "-D", data, "-h", "127.0.0.1", "-p", port, "-k", "",
		"-c", "dynamic_shared_memory_type=mmap"} // in files: a killed server leaves other memory behind
	for _, setting := range settings {
		s.args = append(s.args, "-c", setting)
	}
	return s, s.Start()
}

// Start starts a server that does not run, and returns when it accepts connections.
// On Linux, it ends with this process, even if this process crashes.
func (s *Server) Start() (err error) {
	if s.Process, err = start(s.dir, syscall.SIGQUIT, nil, s.args...); err != nil {
		return err
	}
	return s.Until("it accepts connections", func() bool {
		return strings.Contains(s.Stderr.String(), "ready to accept connections")
	})
}

// Kill kills the server, with the processes of its connections, and waits until it
// has ended. It does nothing if the server does not run.
func (s *Server) Kill() {
	if s.Running() {
		kill(family(s.Pid()))
		<-s.Ended
	}
}

// Close ends the server and removes its data.
func (s *Server) Close() {
	if s.Running() {
		_ = s.Signal(syscall.SIGQUIT) // ends it at once and, unlike SIGKILL, frees all memory
		s.Wait()
	}
	s.Kill()
	_ = os.RemoveAll(s.dir)
}

// Run starts a new server, which ends with the test.
func Run(t testing.TB, settings ...string) *Server {
	t.Helper()
	Need(t)
	s, err := New(settings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Need skips a test where PostgreSQL is not installed. In CI the test fails.
func Need(t testing.TB) {
	t.Helper()
	process.Tool(t, filepath.Join(programs(), "initdb"))
}

// newDir returns a new temporary directory that belongs to the user that runs
// PostgreSQL, who could not reach a test's own.
func newDir() (string, error) {
	dir, err := os.MkdirTemp("", "postgres-test-*")
	if err == nil {
		err = own(dir)
	}
	return dir, err
}

// databaseURL returns the URL of a database for a superuser.
func databaseURL(user, database string, addresses ...string) string {
	return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", user, strings.Join(addresses, ","), database)
}

// programs returns the directory of PostgreSQL's programs: that of initdb in PATH, or
// the last one that Debian's packages have installed. It returns "" if there is none.
func programs() string {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path)
		}
	}
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // sorted
	return append([]string{""}, dirs...)[len(dirs)]
}
