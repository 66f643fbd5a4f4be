package main

import (
	"fmt"
	"os"
	"syscall"
)

// rlimitData is RLIMIT_DATA, which package syscall has only for some
// architectures.
const rlimitData = 2

// limitMemory limits the memory of the process to n bytes more than it has. Above
// that, the runtime ends the process.
func limitMemory(n uint64) error {
	var size, resident, shared, text, lib, data uint64
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return nil // no /proc: then the machine's memory is the limit
	}
	if _, err := fmt.Sscan(string(b), &size, &resident, &shared, &text, &lib, &data); err != nil {
		return err
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(rlimitData, &limit); err != nil {
		return err
	}
	limit.Cur = min(limit.Max, data*uint64(os.Getpagesize())+n)
	return syscall.Setrlimit(rlimitData, &limit)
}
