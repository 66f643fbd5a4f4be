//go:build unix

package local

import "syscall"

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// Pause has the process do nothing, without its knowing: SIGSTOP.
func (p *child) Pause() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume ends a pause.
func (p *child) Resume() error { return p.cmd.Process.Signal(syscall.SIGCONT) }
