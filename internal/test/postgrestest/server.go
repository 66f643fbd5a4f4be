// Package postgrestest runs PostgreSQL on this machine, for tests: [Run] starts one
// server. The tests of this package hold these promises of docs/postgres.md:
//
//   - TestFaults: if one machine of a Patroni cluster of three nodes fails, or both
//     standbys do, no acknowledged creation is lost, nothing is stored twice, and a
//     read returns the newest state or 503
//
// The package needs Linux. If the process runs as root, PostgreSQL runs as the user
// postgres. Nothing that the package starts outlives the process.
package postgrestest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"example.com/animalstore/internal/test/process"
)

// Server is a PostgreSQL server without standbys.
type Server struct {
	machine
	URL string // for clients; the user is a superuser without a password
	end func()
}

// New starts a server with new data, in a temporary directory. The settings have the
// form name=value.
func New(settings ...string) (*Server, error) {
	dir, end, err := newDir()
	if err != nil {
		return nil, err
	}
	address := process.FreeAddress()
	s := &Server{machine{name: "PostgreSQL", dir: dir}, databaseURL("postgres", address), end}
	data := filepath.Join(dir, "data")
	initdb := command(dir, filepath.Join(programs(), "initdb"), "--pgdata="+data, "--username=postgres", "--auth=trust",
		"--encoding=UTF8", "--locale=C", "--data-checksums", "--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		end()
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	_, port, _ := strings.Cut(address, ":")
	args := []string{filepath.Join(programs(), "postgres"), "-D", data, "-h", "127.0.0.1", "-p", port, "-k", "",
		"-c", "dynamic_shared_memory_type=mmap"} // in files: a killed server leaves other memory behind
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	s.start = func() (*process.Process, error) {
		p, err := process.Start(command(dir, args...))
		if err == nil {
			err = p.Until("it accepts connections", func() bool {
				return strings.Contains(p.Stderr.String(), "ready to accept connections")
			})
		}
		return p, err
	}
	if err := s.Start(); err != nil {
		end()
		return nil, err
	}
	return s, nil
}

// Run starts a new server, which ends with the test.
func Run(t testing.TB, settings ...string) *Server {
	t.Helper()
	Need(t)
	s, err := New(settings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.end)
	return s
}

// Need skips a test where PostgreSQL is not installed. In CI the test fails.
func Need(t testing.TB) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the tests with PostgreSQL need /proc")
	}
	process.Tool(t, filepath.Join(programs(), "initdb"))
}

// databaseURL returns the URL of the database postgres for a superuser.
func databaseURL(user string, addresses ...string) string {
	return fmt.Sprintf("postgres://%s@%s/postgres?sslmode=disable", user, strings.Join(addresses, ","))
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
