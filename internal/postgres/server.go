// Package postgres runs PostgreSQL on this machine, for tests and the trial: a
// [Server] alone, or a [Cluster] of Patroni.
//
// A test calls [Run] or [RunCluster]. If the process runs as root, PostgreSQL runs
// as the user postgres.
package postgres

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
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

// New creates a database cluster in a directory, an absolute path, that is empty or does not exist.
// The settings of the server have the form name=value. The user postgres must be able
// to reach the directory if this process runs as root.
func New(dir string, settings ...string) (*Server, error) {
	if err := own(dir); err != nil {
		return nil, err
	}
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
	s := &Server{URL: databaseURL("postgres", address), dir: dir,
		args: []string{filepath.Join(programs(), "postgres"), "-D", data, "-h", "127.0.0.1", "-p", port, "-k", "",
			"-c", "dynamic_shared_memory_type=mmap"}} // in files: a killed server leaves other memory behind
	for _, setting := range settings {
		s.args = append(s.args, "-c", setting)
	}
	return s, nil
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

// Stop ends the connections and then the server, in order.
func (s *Server) Stop() error {
	if err := s.Signal(syscall.SIGINT); err != nil {
		return err
	}
	_, err := s.Wait()
	return err
}

// Kill kills the server, with the processes of its connections, and waits until it
// has ended. It does nothing if the server does not run.
func (s *Server) Kill() {
	if s.Running() {
		kill(family(s.Pid()))
		<-s.Ended
	}
}

// Run starts a new server, which ends with the test. Where PostgreSQL is not
// installed, the test is skipped, or fails in CI.
func Run(t testing.TB, settings ...string) *Server {
	t.Helper()
	Need(t)
	s, err := New(tempDir(t), settings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.Running() {
			_ = s.Signal(syscall.SIGQUIT) // ends it at once and, unlike SIGKILL, frees all memory
			_, _ = s.Wait()
		}
		s.Kill()
	})
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// Need skips a test where PostgreSQL is not installed. In CI the test fails.
func Need(t testing.TB) {
	t.Helper()
	process.Tool(t, filepath.Join(programs(), "initdb"))
}

// tempDir returns a directory that ends with the test. The user postgres could not
// reach the test's own.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "postgres-test-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// databaseURL returns the URL of a database for a superuser.
func databaseURL(user string, addresses ...string) string {
	return fmt.Sprintf("postgres://%s@%s/postgres?sslmode=disable", user, strings.Join(addresses, ","))
}

// programs returns the directory of PostgreSQL's programs: that of initdb in PATH, or
// that of the latest version that Debian's packages have installed. It returns "" if
// there is none.
func programs() string {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path)
		}
	}
	version := func(dir string) int { // /usr/lib/postgresql/15/bin
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
		return n
	}
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.SortFunc(dirs, func(a, b string) int { return cmp.Compare(version(b), version(a)) })
	return append(dirs, "")[0]
}
