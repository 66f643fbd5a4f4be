//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package storage

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// lockRetry is how often a lock that another process has is asked for.
const lockRetry = 10 * time.Millisecond

// lockExclusive takes the lock that bbolt will take, which is then its own
// already: what is read before that is no file that is being written to. It
// returns [ErrLocked] if another process has it for longer than timeout.
func lockExclusive(f *os.File, timeout time.Duration) error {
	for deadline := time.Now().Add(timeout); ; time.Sleep(lockRetry) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil, errors.Is(err, syscall.ENOTSUP):
			return nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			return err
		case !time.Now().Before(deadline):
			return ErrLocked
		}
	}
}

// lockShared keeps writers away from f while it is open, or returns
// [ErrLocked] if there is one. bbolt takes the same lock.
func lockShared(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}
