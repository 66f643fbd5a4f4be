package apikey

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// ErrNoKey is wrapped by the error of [Revoke] for an ID that no key has.
var ErrNoKey = errors.New("no key has this ID")

// Create makes a key for an account and adds it to the file at path. It returns
// the key, which cannot be restored from the file, and its ID. The key is valid
// for lifetime, at least a second, or forever if lifetime is 0. The error for a
// bad account or lifetime has petstore.CodeInvalid.
//
// If there is no file, Create makes it and its directory, for their owner only.
//
// Create and [Revoke] replace the file, or return an error and change nothing.
// Comments, mode and owner stay. They refuse a malformed file, and a symbolic
// link: the owner of its directory could make root change any other file. They
// take turns, also with other processes, and fail after waiting for five seconds.
// For that they lock a file with .lock added to the name, which is never removed.
func Create(path, account string, lifetime time.Duration) (key, id string, err error) {
	key, k, err := New(account, lifetime)
	if err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", "", err
	}
	err = change(path, true, func(lines []string, keys map[string]Key) ([]string, error) {
		if _, ok := keys[k.ID]; ok {
			return nil, errors.New("another key has the ID of the new one; try again")
		}
		return append(lines, strings.Join(k.fields(), " ")+"\n"), nil
	})
	if err != nil {
		return "", "", err
	}
	return key, k.ID, nil
}

// Revoke removes a key from the file at path, and returns what the file held
// about it. A server that has the file open refuses the key within two seconds.
// If no key has the ID, the error wraps [ErrNoKey].
func Revoke(path, id string) (k Key, err error) {
	err = change(path, false, func(lines []string, keys map[string]Key) ([]string, error) {
		var ok bool
		if k, ok = keys[id]; !ok {
			return nil, ErrNoKey
		}
		return slices.Delete(lines, k.line, k.line+1), nil
	})
	return k, err
}

// List returns the keys in the file at path, expired ones too, in its order.
func List(path string) ([]Key, error) {
	contents, _, err := read(path, 0)
	if err != nil {
		return nil, err
	}
	_, keys, err := parse(path, contents)
	return slices.SortedFunc(maps.Values(keys), func(a, b Key) int { return a.line - b.line }), err
}

// header is the first line of a file that Create makes.
const header = "# API keys, one per line: SHA-256 of the key, account, created, expires\n"

// change replaces the lines of the file at path by those that edit returns. If
// create is true and there is no file, it makes one.
func change(path string, create bool, edit func([]string, map[string]Key) ([]string, error)) error {
	info, err := os.Lstat(path)
	if err != nil && !(create && errors.Is(err, fs.ErrNotExist)) {
		return err
	}
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s: is a symbolic link; must be the key file itself", path)
	}
	locked, err := lock(path+".lock", info)
	if err != nil {
		return err
	}
	defer locked.Close()
	contents, info, err := read(path, noFollow)
	if create && errors.Is(err, fs.ErrNotExist) {
		contents, err = header, nil
	}
	if err != nil {
		return err
	}
	lines, keys, err := parse(path, contents)
	if err != nil {
		return err
	}
	if lines, err = edit(lines, keys); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return replace(path, cmp.Or(strings.Join(lines, ""), header), info)
}

// lockTimeout is much longer than a change takes. The lock of a process that is
// killed is released.
var lockTimeout = 5 * time.Second // a variable for tests

// lock locks the file at path until it is closed. It makes the file if needed, and
// for the owner in info, who must be able to lock it the next time.
func lock(path string, info fs.FileInfo) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil && info != nil {
		_ = chown(f, info) // which only root can, and only root needs to
	} else if errors.Is(err, fs.ErrExist) {
		f, err = os.OpenFile(path, os.O_RDWR|noFollow, 0)
	}
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(lockTimeout)
	for err = flock(f); err == errLocked && time.Now().Before(deadline); err = flock(f) {
		time.Sleep(5 * time.Millisecond)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: cannot be locked: %w; if another process changes the keys, try again when it has ended", path, err)
	}
	return f, nil
}

// read returns the contents of the file at path. flag is 0 or noFollow.
func read(path string, flag int) (string, fs.FileInfo, error) {
	const maxSize = 16 << 20 // more than 100,000 keys
	// With O_NONBLOCK, opening a FIFO does not wait for a writer.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|flag, 0)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSize {
		return "", nil, fmt.Errorf("%s: must be a regular file of at most %d MiB", path, maxSize>>20)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxSize))
	return string(b), info, err
}

// replace puts a new file in the place of the one at path. It keeps the mode and
// the owner in info: otherwise a change by root would take the file from the
// server's user. info is nil if there is no file.
func replace(path, contents string, info fs.FileInfo) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	temporary := path + ".tmp"
	os.Remove(temporary) // left by a process that was killed
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(contents)
	if info != nil {
		err = errors.Join(err, chown(f, info), f.Chmod(info.Mode().Perm()))
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		os.Remove(temporary)
		return fmt.Errorf("%s: not changed: %w", path, err)
	}
	if err := dir.Sync(); err != nil && runtime.GOOS != "windows" { // which cannot do this
		return fmt.Errorf("%s: changed, but a power failure may undo it: %w", path, err)
	}
	return nil
}
