//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package storage

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// noSpaceErrors are the errors of a write without space: a full disk, a quota
// used up, a limit on the size of a file.
var noSpaceErrors = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}

// syncDir makes the names in a directory durable.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// keepOwner gives f the owner of old. Only root can, and only root needs to.
func keepOwner(f, old *os.File) {
	if info, err := old.Stat(); err == nil {
		owner := info.Sys().(*syscall.Stat_t)
		_ = f.Chown(int(owner.Uid), int(owner.Gid))
	}
}

// lockExclusive takes the lock that bbolt takes later, so that nobody writes to
// the file while it is inspected. It returns [ErrLocked] if another process has
// the lock for longer than lockTimeout.
func lockExclusive(f *os.File) error {
	for deadline := time.Now().Add(lockTimeout); ; time.Sleep(10 * time.Millisecond) {
		err := lock(f, syscall.LOCK_EX)
		if !errors.Is(err, ErrLocked) || !time.Now().Before(deadline) {
			return err
		}
	}
}

// lockShared keeps writers away from f while it is open, or returns [ErrLocked]
// if there is one.
func lockShared(f *os.File) error { return lock(f, syscall.LOCK_SH) }

func lock(f *os.File, how int) error {
	err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK), errors.Is(err, syscall.EINTR):
		return ErrLocked
	case errors.Is(err, syscall.ENOTSUP):
		return nil // the file system has no locks
	}
	return err
}
