//go:build unix

package serve

import "syscall"

// maxFiles returns how many descriptors the process can have, 0 if that is not
// known.
func maxFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int(min(uint64(limit.Cur), 1<<30))
}
