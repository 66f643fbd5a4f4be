//go:build !windows

package apikey

import (
	"io/fs"
	"os"
	"syscall"
)

const (
	noFollow  = syscall.O_NOFOLLOW  // makes opening a symbolic link fail
	errLocked = syscall.EWOULDBLOCK // from flock if another process has the lock
)

// flock locks f until it is closed.
func flock(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// chown gives f the owner and group in info.
func chown(f *os.File, info fs.FileInfo) error {
	old := info.Sys().(*syscall.Stat_t)
	return f.Chown(int(old.Uid), int(old.Gid))
}
