package postgrestest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"example.com/animalstore/internal/test/process"
)

// machine stands for a machine: the processes that run in a directory. The embedded
// process is the one that start has started last.
type machine struct {
	*process.Process
	name  string
	dir   string
	start func() (*process.Process, error)
}

// Start starts a machine on which nothing runs.
func (m *machine) Start() (err error) {
	m.Process, err = m.start()
	return err
}

// Kill kills all processes of the machine, as a loss of power does, and returns when
// they have ended. It returns an error if there was none.
func (m *machine) Kill() error {
	pids := processes(m.dir)
	if len(pids) == 0 {
		return fmt.Errorf("nothing runs on %s", m.name)
	}
	for ; len(pids) > 0; pids = processes(m.dir) { // they may start others meanwhile
		for pid := range pids {
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill() // fails if it has ended
			}
		}
		time.Sleep(time.Millisecond)
	}
	<-m.Ended
	return nil
}

// processes returns the state, as in /proc, of each process whose working directory is
// in dir: of those that were started there, and all that they have started.
func processes(dir string) map[int]byte {
	pids := map[int]byte{}
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		if cwd, _ := os.Readlink(link); cwd != dir && !strings.HasPrefix(cwd, dir+"/") {
			continue // or the process has ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(link)))
		stat, _ := os.ReadFile(filepath.Dir(link) + "/stat") // 1234 (postgres) S 1 ...
		if _, state, found := strings.Cut(string(stat), ") "); found {
			pids[pid] = state[0]
		}
	}
	return pids
}

// command returns a command that runs in a directory. If this process runs as root, which
// PostgreSQL refuses, the command runs as the user postgres.
func command(dir string, args ...string) *exec.Cmd {
	if os.Getuid() == 0 {
		args = append([]string{"setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"}, args...)
	}
	return process.Command(dir, args...)
}

// newDir makes a directory for machines. end kills all their processes and removes the
// directory. If this process ends without calling end, even if it crashes, the same
// happens: a shell waits for the end of its standard input.
func newDir() (dir string, end func(), err error) {
	const script = `
		trap '' INT TERM HUP QUIT # a terminal sends them to all processes of a test
		read _
		signal=QUIT # with which PostgreSQL ends at once and, unlike KILL, frees all memory
		tries=0
		while
			pids=$(find /proc/[0-9]*/cwd -prune '(' -lname "$0" -o -lname "$0/*" ')' 2>/dev/null | cut -d/ -f3)
			[ -n "$pids" ]
		do
			kill -$signal $pids
			sleep 0.1
			tries=$((tries + 1))
			[ $tries -lt 30 ] || signal=KILL # those that were stopped
		done
		rm -rf "$0"`
	if dir, err = os.MkdirTemp("", "postgrestest-*"); err != nil {
		return "", nil, err
	}
	if os.Getuid() == 0 {
		if err := exec.Command("chown", "postgres:postgres", dir).Run(); err != nil {
			return "", nil, fmt.Errorf("the user postgres is missing: %w", err)
		}
	}
	shell := exec.Command("sh", "-c", script, dir)
	var in io.Closer
	if in, err = shell.StdinPipe(); err == nil {
		err = shell.Start()
	}
	return dir, func() {
		_ = in.Close()
		_ = shell.Wait()
	}, err
}
