package local

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"example.com/animalstore/internal/process"
)

// patience limits waits for what happens at once on a machine that is not busy.
const patience = process.Patience

// child is this executable in another role.
type child struct {
	*process.Process // nil until the first start

	name  string
	role  string
	dir   string
	cmd   *exec.Cmd
	stdin io.Closer
}

// start starts the process, which must not be running, with an empty log.
func (p *child) start(args ...string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return err
	}
	p.cmd = exec.Command(exe, args...)
	p.cmd.Dir = p.dir
	p.cmd.Env = process.Environ(roleVariable + "=" + p.role)
	p.cmd.SysProcAttr = ownGroup() // Ctrl-C is for the program that started it
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	if p.Process, err = process.Start(p.cmd); err != nil {
		return err
	}
	return nil
}

// Stop sends SIGTERM and waits for the end of the process. It returns an error if
// the process fails or has to be killed.
func (p *child) Stop() error {
	if !p.Running() {
		return nil
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		p.Kill() // Windows cannot send the signal
		return nil
	}
	code, err := p.Wait()
	if err != nil {
		p.Kill()
		return fmt.Errorf("%s had to be killed: %w", p.name, err)
	}
	if code > 0 {
		return fmt.Errorf("%s ended with exit code %d:\n%s", p.name, code, p.tail())
	}
	return nil
}

// until waits until ok returns true. It returns an error if the process ends
// first.
func (p *child) until(what string, ok func() bool) error {
	if err := p.Until(what, ok); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return nil
}

// tail returns the end of the log.
func (p *child) tail() string { return p.Tail() }
