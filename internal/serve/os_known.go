//go:build linux || darwin

package serve

import "syscall"

// maxFiles returns how many descriptors the process can have, or a large number
// if that is not known.
func maxFiles() int {
	limit := syscall.Rlimit{Cur: 1 << 20}
	_ = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	return int(min(uint64(limit.Cur), 1<<20))
}
