//go:build !windows

package storage

import "syscall"

// noSpaceErrors are the errors of a write that finds no room: a full disk, a
// quota used up, a limit on a file's size.
var noSpaceErrors = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}
