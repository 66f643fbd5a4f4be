// Package subprocess runs the servers of the petstore as processes of
// their own, as tests and the cluster on one machine do: it keeps what they
// write, waits for what they are to say, and ends them.
package subprocess

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

// Patience is how long a process is waited for that does at once what it is to
// do, unless the machine is busy with much else.
const Patience = 3 * time.Minute

// Environ returns this process's environment for another, without what would
// be flags of a server there, and with the additions.
func Environ(additions ...string) []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "PETSTORE_") && !strings.HasPrefix(v, "ETCD_") {
			env = append(env, v)
		}
	}
	// The race detector would have every process wait a second at its end.
	return append(append(env, "GORACE=atexit_sleep_ms=0"), additions...)
}

// Output is what a process has written so far. It is safe for concurrent use.
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

// String returns all of it.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// Process is a process that was started. A nil one never was: it does not run
// and has logged nothing. It is safe for concurrent use.
type Process struct {
	Stdout, Stderr Output
	Ended          <-chan struct{} // closed when it has ended

	cmd *exec.Cmd
}

// Start starts cmd and keeps its standard output, and its standard error
// unless cmd.Stderr is set.
func Start(cmd *exec.Cmd) (*Process, error) {
	ended := make(chan struct{})
	p := &Process{Ended: ended, cmd: cmd}
	cmd.Stdout = &p.Stdout
	if cmd.Stderr == nil {
		cmd.Stderr = &p.Stderr
	}
	cmd.WaitDelay = 5 * time.Second // where children of its own keep the outputs open
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(ended)
		_ = cmd.Wait() // its outputs and its exit code say why
	}()
	return p, nil
}

// Log returns what the process has written to both outputs.
func (p *Process) Log() string {
	if p == nil {
		return ""
	}
	return p.Stdout.String() + p.Stderr.String()
}

// Tail returns the last lines of the log.
func (p *Process) Tail() string {
	lines := strings.Split(strings.TrimSpace(p.Log()), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}

// Pid returns the process's id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Running reports whether the process has not ended.
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

// Signal sends the process a signal.
func (p *Process) Signal(sig os.Signal) error { return p.cmd.Process.Signal(sig) }

// Kill ends the process with SIGKILL, and waits for its end. It does nothing
// to one that has ended.
func (p *Process) Kill() {
	if p.Running() {
		_ = p.cmd.Process.Kill()
		<-p.Ended
	}
}

// Wait waits for the end of the process, for [Patience] at most, and returns
// its exit code; -1: a signal ended it.
func (p *Process) Wait() (code int, err error) {
	select {
	case <-p.Ended:
		return p.cmd.ProcessState.ExitCode(), nil
	case <-time.After(Patience):
		return 0, fmt.Errorf("the process has not ended within %v:\n%s", Patience, p.Tail())
	}
}

// Until waits until ok, for [Patience] at most and while the process runs.
func (p *Process) Until(what string, ok func() bool) error {
	for end := time.Now().Add(Patience); !ok(); time.Sleep(5 * time.Millisecond) {
		switch {
		case !p.Running():
			return fmt.Errorf("the process has ended before %s:\n%s", what, p.Tail())
		case time.Now().After(end):
			return fmt.Errorf("waited %v in vain until %s:\n%s", Patience, what, p.Tail())
		}
	}
	return nil
}

var (
	servingForm = regexp.MustCompile(`msg=serving url=(\S+)(?: messages=(\S+))?(?: admin=(\S+))?.*\n`)
	keyForm     = regexp.MustCompile(`petstore_[a-z2-7]{56}`)
)

// Addresses are the URLs of a server; "": it has no such address.
type Addresses struct {
	URL      string // with the base path
	Messages string // of POST /messages, if it is elsewhere
	Admin    string
}

// Serving waits until the process, a server that logs as text, serves.
func (p *Process) Serving() (a Addresses, err error) {
	err = p.Until("it serves", func() bool {
		m := servingForm.FindStringSubmatch(p.Stderr.String())
		if m != nil {
			a = Addresses{m[1], m[2], m[3]}
		}
		return m != nil
	})
	return a, err
}

// Key waits until the process has printed an API key, as a server's first
// start in a directory does, and returns it.
func (p *Process) Key() (key string, err error) {
	err = p.Until("it shows its key", func() bool {
		key = keyForm.FindString(p.Stdout.String())
		return key != ""
	})
	return key, err
}
