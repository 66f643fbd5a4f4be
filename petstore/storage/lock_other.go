//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package storage

import "os"

// lockExclusive does nothing: bbolt has its own kind of lock on these systems.
func lockExclusive(*os.File) error { return nil }

// lockShared does nothing: the operator must make sure that nobody writes to the
// file meanwhile.
func lockShared(*os.File) error { return nil }
