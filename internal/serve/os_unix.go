//go:build unix

package serve

import (
	"os"
	"syscall"
	"time"
)

// maxFiles returns how many descriptors the process can have, or a large number
// if that is not known.
func maxFiles() int {
	limit := syscall.Rlimit{Cur: 1 << 30}
	_ = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	return int(min(uint64(limit.Cur), 1<<30))
}

// lockDir locks a directory, and returns a function that unlocks it. If the directory
// cannot be locked, or another process has the lock for five seconds, it goes on without.
func lockDir(path string) (unlock func()) {
	d, err := os.Open(path)
	if err != nil {
		return func() {}
	}
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != syscall.EWOULDBLOCK {
			break
		}
	}
	return func() { d.Close() }
}
