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

// Environ returns the environment of this process for another one, without
// the variables that are flags of servers, and with the additions.
func Environ(additions ...string) []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "PETSTORE_") && !strings.HasPrefix(v, "PG") {
			env = append(env, v)
		}
	}
	// Under the race detector every process would wait a second before it ends.
	return append(append(env, "GORACE=atexit_sleep_ms=0"), additions...)
}

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

// Process is a process that was started. A nil Process has never run and has
// no output. It is safe for concurrent use.
type Process struct {
	Stdout, Stderr Output
	Ended          <-chan struct{} // closed when the process has ended

	cmd *exec.Cmd
}

// Start starts cmd. It collects the standard output, and the standard error
// unless cmd.Stderr is set.
func Start(cmd *exec.Cmd) (*Process, error) {
	ended := make(chan struct{})
	p := &Process{Ended: ended, cmd: cmd}
	cmd.Stdout = &p.Stdout
	if cmd.Stderr == nil {
		cmd.Stderr = &p.Stderr
	}
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

// Log returns both outputs, standard output first.
func (p *Process) Log() string {
	if p == nil {
		return ""
	}
	return p.Stdout.String() + p.Stderr.String()
}

// Tail returns the last ten lines of the log.
func (p *Process) Tail() string {
	lines := strings.Split(strings.TrimSpace(p.Log()), "\n")
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

// Wait waits until the process has ended, for at most [Patience], and returns
// its exit code, which is -1 if a signal ended it.
func (p *Process) Wait() (code int, err error) {
	select {
	case <-p.Ended:
		return p.cmd.ProcessState.ExitCode(), nil
	case <-time.After(Patience):
		return 0, fmt.Errorf("the process has not ended within %v:\n%s", Patience, p.Tail())
	}
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

// Addresses are the URLs of a server. One that it does not have is empty.
type Addresses struct {
	URL   string // with the base path
	Admin string
}

var (
	servingForm = regexp.MustCompile(`serving url=(\S+)(?: admin=(\S+))?.*\n`)
	keyForm     = regexp.MustCompile(`petstore_[a-z2-7]{52}`)
)

// Serving waits until the process, a server that logs as text, serves.
func (p *Process) Serving() (a Addresses, err error) {
	err = p.Until("it serves", func() bool {
		m := servingForm.FindStringSubmatch(p.Stderr.String())
		if m != nil {
			a = Addresses{m[1], m[2]}
		}
		return m != nil
	})
	return a, err
}

// Key waits until the process has printed an API key, as the first server in a
// directory and "keys create" do, and returns the key.
func (p *Process) Key() (key string, err error) {
	err = p.Until("it prints an API key", func() bool {
		key = keyForm.FindString(p.Stdout.String())
		return key != ""
	})
	return key, err
}
