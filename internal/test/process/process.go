// Package process runs servers as processes of their own, for tests
// and benchmarks.
//
// A test calls [Serve] for a server and [Run] for a command that ends by
// itself. Programs and tests of other processes call [Start].
package process

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Patience is how long to wait for what happens at once unless the machine is
// busy.
const Patience = 3 * time.Minute

// Command returns a command that has not been started, for a program and its
// arguments in a directory. Its environment is that of this process, without the
// variables that configure a program which a test starts.
func Command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = []string{"GORACE=atexit_sleep_ms=0"} // otherwise each waits a second before it ends
	for _, v := range os.Environ() {
		if !configures.MatchString(v) {
			cmd.Env = append(cmd.Env, v)
		}
	}
	return cmd
}

var configures = regexp.MustCompile(`^(PETSTORE_|PG|PATRONI_|ETCD_)`)

// Output holds what a process has written. It is safe for concurrent use.
type Output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

// String returns the whole output.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// Process is a process that was started. A nil Process does not run. It is safe for
// concurrent use.
type Process struct {
	Stdout, Stderr Output
	Ended          <-chan struct{} // closed when the process has ended

	cmd *exec.Cmd
}

// Start starts cmd and collects its outputs.
func Start(cmd *exec.Cmd) (*Process, error) {
	ended := make(chan struct{})
	p := &Process{Ended: ended, cmd: cmd}
	cmd.Stdout, cmd.Stderr = &p.Stdout, &p.Stderr
	cmd.WaitDelay = 5 * time.Second // its children may keep the outputs open
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(ended)
		_ = cmd.Wait() // Wait and the outputs report how it ended
	}()
	return p, nil
}

// Tail returns the last ten lines of both outputs.
func (p *Process) Tail() string {
	lines := strings.Split(strings.TrimSpace(p.Stdout.String()+p.Stderr.String()), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}

// Pid returns the process ID.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Running reports whether the process runs.
func (p *Process) Running() bool {
	if p == nil {
		return false
	}
	select {
	case <-p.Ended:
		return false
	default:
		return true
	}
}

// Signal sends a signal to the process.
func (p *Process) Signal(sig os.Signal) error { return p.cmd.Process.Signal(sig) }

// Kill sends SIGKILL and waits until the process has ended. It does nothing if
// the process does not run.
func (p *Process) Kill() {
	if p.Running() {
		_ = p.cmd.Process.Kill()
		<-p.Ended
	}
}

// Wait waits until the process has ended and returns its exit code, which is -1 if a
// signal ended it. After [Patience] Wait kills the process.
func (p *Process) Wait() int { return p.wait(Patience) }

func (p *Process) wait(limit time.Duration) int {
	select {
	case <-p.Ended:
	case <-time.After(limit):
		p.Kill()
	}
	return p.cmd.ProcessState.ExitCode()
}

// Until waits until ok returns true. It returns an error, with the end of the
// log, if the process ends first or [Patience] has passed.
func (p *Process) Until(what string, ok func() bool) error {
	for end := time.Now().Add(Patience); !ok(); time.Sleep(5 * time.Millisecond) {
		switch {
		case !p.Running():
			if ok() { // it wrote more before it ended
				return nil
			}
			return fmt.Errorf("the process ended with exit code %d before %s:\n%s", p.cmd.ProcessState.ExitCode(), what, p.Tail())
		case time.Now().After(end):
			return fmt.Errorf("timed out after %v waiting until %s:\n%s", Patience, what, p.Tail())
		}
	}
	return nil
}
