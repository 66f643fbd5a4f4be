//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package storage

import (
	"errors"
	"math"
	"os"
	"syscall"
)

// reserve is how much more of a file is mapped than there is. bbolt leaves the last 16 MiB of it
// unused.
const reserve = min(16<<30, math.MaxInt/32) // 64 MiB on 32-bit systems

// noSpaceErrors are the errors of a write without space: a full disk, a quota
// used up, a limit on the size of a file.
var noSpaceErrors = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}

// lock takes the lock that bbolt takes later, so that nobody writes to the file while
// it is inspected: a shared one if flag is os.O_RDONLY. It returns [ErrLocked] if
// another process has the lock.
func lock(f *os.File, flag int) error {
	how := syscall.LOCK_EX
	if flag == os.O_RDONLY {
		how = syscall.LOCK_SH
	}
	err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

// unlock gives the lock back. A mapping of the file would keep it.
func unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
