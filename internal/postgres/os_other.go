//go:build !linux

package postgres

import (
	"os"
	"os/exec"
	"syscall"
)

// own makes a directory, if it does not exist.
func own(dir string) error { return os.MkdirAll(dir, 0o700) }

// prepare does nothing: if this process crashes on this system, the command goes on.
func prepare(*exec.Cmd, syscall.Signal) error { return nil }
