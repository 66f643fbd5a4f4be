//go:build linux || darwin

package serve

import (
	"math"
	"syscall"
)

// maxFiles returns how many descriptors the process can have, or a large number
// if that is not known.
func maxFiles() int {
	limit := syscall.Rlimit{Cur: 1 << 20}
	_ = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	return int(min(uint64(limit.Cur), 1<<20))
}

// freeSpace returns how many bytes are free on the disk of a folder, or a large number
// if that is not known.
func freeSpace(dir string) int64 {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return math.MaxInt64
	}
	return int64(s.Bavail) * int64(s.Bsize)
}
