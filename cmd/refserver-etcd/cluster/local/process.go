package local

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// patience is how long a process is waited for that comes at once unless the
// machine is busy.
const patience = time.Minute

// process is this executable in another role.
type process struct {
	name  string
	role  string
	dir   string
	cmd   *exec.Cmd
	stdin io.Closer
	log   *output // what it writes to standard error and output
	ended chan struct{}
}

// output is what a process has written so far, kept in memory.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// start starts the process, which must not be running. Its log starts anew.
func (p *process) start(args ...string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return err
	}
	p.cmd = exec.Command(exe, args...)
	p.cmd.Dir = p.dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "PETSTORE_") && !strings.HasPrefix(v, "ETCD_") {
			p.cmd.Env = append(p.cmd.Env, v)
		}
	}
	p.cmd.Env = append(p.cmd.Env, roleVariable+"="+p.role, "GORACE=atexit_sleep_ms=0")
	p.cmd.SysProcAttr = ownGroup() // Ctrl-C is for the program that started it
	p.log = &output{}
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan struct{}) {
		defer close(ended)
		_ = cmd.Wait()
	}(p.cmd, p.ended)
	return nil
}

// Log returns what the process has logged since it was started.
func (p *process) Log() string {
	if p.log == nil {
		return ""
	}
	return p.log.String()
}

// Pid returns the process's id.
func (p *process) Pid() int { return p.cmd.Process.Pid }

// Running reports whether the process has been started and has not ended.
func (p *process) Running() bool {
	if p.ended == nil {
		return false
	}
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Kill ends the process with SIGKILL, and waits for its end. It does nothing
// to one that has ended.
func (p *process) Kill() {
	if p.Running() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// Stop has the process end in good order, and reports if it does not.
func (p *process) Stop() error {
	if !p.Running() {
		return nil
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.Kill() // some systems have no such signal
		return nil
	}
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.Kill()
		return fmt.Errorf("%s had to be killed", p.name)
	}
	if code := p.cmd.ProcessState.ExitCode(); code > 0 {
		return fmt.Errorf("%s ended with exit code %d:\n%s", p.name, code, p.tail())
	}
	return nil
}

// until waits until ok while the process runs.
func (p *process) until(what string, ok func() bool) error {
	for end := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		switch {
		case !p.Running():
			return fmt.Errorf("%s has ended before %s:\n%s", p.name, what, p.tail())
		case time.Now().After(end):
			return fmt.Errorf("%s: %s has not come within %v:\n%s", p.name, what, patience, p.tail())
		}
	}
	return nil
}

// tail returns the end of the log.
func (p *process) tail() string {
	lines := strings.Split(strings.TrimSpace(p.Log()), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}
