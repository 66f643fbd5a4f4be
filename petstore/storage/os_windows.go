package storage

import (
	"os"
	"syscall"
)

const reserve = 64 << 20 // bbolt makes the file that much longer

// noSpaceErrors are the errors of a write without space:
// ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL, ERROR_DISK_QUOTA_EXCEEDED.
var noSpaceErrors = []error{syscall.Errno(39), syscall.Errno(112), syscall.Errno(1295)}

// lock does nothing: bbolt has its own kind of lock on Windows. For what only reads a
// file, the operator must make sure that nobody writes to it meanwhile.
func lock(*os.File, int) error { return nil }

func unlock(*os.File) {}
