//go:build !windows

package apikey

import (
	"errors"
	"os"
	"syscall"
)

// noFollow makes it an error to open a symbolic link.
const noFollow = syscall.O_NOFOLLOW

// tryLock takes an exclusive lock on the file at path, which it makes if need
// be, with the owner of beside if that is not nil. The lock ends when the file
// is closed, by the end of the process too.
//
// It follows no link, and changes the owner only of a file that it has made:
// the owner of the directory must not be able to make root create or give away
// a file elsewhere.
func tryLock(path string, beside os.FileInfo) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if err == nil && beside != nil {
		_ = keepOwner(f, beside) // only root can, and only root need
	} else if errors.Is(err, os.ErrExist) {
		f, err = os.OpenFile(path, os.O_RDWR|noFollow, 0)
	}
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return nil, errLocked
	}
	return nil, &os.PathError{Op: "flock", Path: path, Err: err}
}

// keepOwner gives f the owner and group of old.
func keepOwner(f *os.File, old os.FileInfo) error {
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	have, want := fi.Sys().(*syscall.Stat_t), old.Sys().(*syscall.Stat_t)
	if have.Uid == want.Uid && have.Gid == want.Gid {
		return nil
	}
	return f.Chown(int(want.Uid), int(want.Gid))
}

// syncDir puts a rename in the directory on stable storage.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
