package storage

import (
	"os"
	"syscall"
)

// noSpaceErrors are the errors of a write without space:
// ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL, ERROR_DISK_QUOTA_EXCEEDED.
var noSpaceErrors = []error{syscall.Errno(39), syscall.Errno(112), syscall.Errno(1295)}

// syncDir does nothing: Windows cannot sync a directory, and keeps names in its
// journal.
func syncDir(string) error { return nil }

// keepOwner does nothing: a new file inherits its owner from the directory.
func keepOwner(f, old *os.File) {}

// lockExclusive does nothing: bbolt has its own kind of lock on Windows.
func lockExclusive(*os.File) error { return nil }

// lockShared does nothing: the operator must make sure that nobody writes to the
// file meanwhile.
func lockShared(*os.File) error { return nil }
