//go:build !windows

package apikey

import (
	"os"
	"syscall"
)

// lock waits until no other process has locked f. Closing f unlocks it.
func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }
