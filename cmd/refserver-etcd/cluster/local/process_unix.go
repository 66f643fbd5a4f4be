//go:build unix

package local

import "syscall"

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// Pause sends SIGSTOP: the process hangs until Resume.
func (p *child) Pause() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume lets a paused process run again.
func (p *child) Resume() error { return p.cmd.Process.Signal(syscall.SIGCONT) }
