package apikey

import (
	"errors"
	"os"
	"syscall"
)

// errSharingViolation is what opening a file gives that someone has open and
// does not share (ERROR_SHARING_VIOLATION).
const errSharingViolation = syscall.Errno(32)

// noFollow is 0: this system has no such flag.
const noFollow = 0

// tryLock opens the file at path, which it makes if need be, for nobody else
// to open until it is closed, by the end of the process too.
func tryLock(path string, _ os.FileInfo) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	const shareNothing = 0
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, shareNothing,
		nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errSharingViolation) {
		return nil, errLocked
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// keepOwner does nothing: a new file has the owner and the rights that its
// directory hands down.
func keepOwner(*os.File, os.FileInfo) error { return nil }

// syncDir does nothing: a directory cannot be synced.
func syncDir(string) error { return nil }
