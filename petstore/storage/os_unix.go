//go:build !windows

package storage

import (
	"os"
	"syscall"
)

// noSpaceErrors are the errors of a write without space: a full disk, a quota
// used up, a limit on the size of a file.
var noSpaceErrors = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}

// syncDir makes the names in a directory durable.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
