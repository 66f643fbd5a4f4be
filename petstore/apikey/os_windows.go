package apikey

import (
	"io/fs"
	"os"
	"syscall"
	"unsafe"
)

const (
	noFollow  = 0                 // there is no such flag
	errLocked = syscall.Errno(33) // ERROR_LOCK_VIOLATION
)

var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

// flock locks f until it is closed.
func flock(f *os.File) error {
	const failImmediately, exclusive = 1, 2
	ok, _, err := lockFileEx.Call(f.Fd(), failImmediately|exclusive, 0, 1, 0, uintptr(unsafe.Pointer(new(syscall.Overlapped))))
	if ok != 0 {
		return nil
	}
	return err
}

// chown does nothing: a new file inherits its owner from the directory.
func chown(*os.File, fs.FileInfo) error { return nil }
