//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package storage

import (
	"os"
	"time"
)

// lockExclusive does nothing: bbolt takes its lock in a way of its own.
func lockExclusive(*os.File, time.Duration) error { return nil }

// lockShared does nothing: that nobody writes to the file meanwhile is left to
// the operator.
func lockShared(*os.File) error { return nil }
