package apikey

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// ErrNoKey is the error, wrapped, of [Revoke] for an ID that no key has.
var ErrNoKey = errors.New("no key has this id")

// maxFileSize bounds what is read of a file that may not be a key file at
// all. It is room for several hundred thousand keys.
const maxFileSize = 64 << 20

// List returns the keys in a key file, expired ones too, in the file's order.
func List(path string) ([]Key, error) {
	d, err := read(path, 0)
	if err != nil {
		return nil, err
	}
	return d.keys, nil
}

// Add puts a key at the end of a key file. It makes the file if there is none,
// readable for its owner alone (0600), and its directory (0700). When Add
// returns nil the key is on stable storage.
//
// It fails, and changes nothing, if the file is malformed or has a key with
// the same ID or hash, if path is a symbolic link, or if another process does
// not finish its own change within five seconds.
func Add(path string, k Key) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return change(path, func(d *document) error { return d.add(k) })
}

// Revoke takes the key with that ID out of a key file and returns what was
// kept of it. A server that has the file open refuses the key within two
// seconds. If no key has the ID, the error wraps [ErrNoKey].
func Revoke(path, id string) (Key, error) {
	var k Key
	if _, err := os.Stat(path); err != nil {
		return k, err // rather than make a file without the key
	}
	err := change(path, func(d *document) (err error) {
		k, err = d.remove(id)
		return err
	})
	return k, err
}

// change reads a key file, or starts a new one, lets edit change it, and puts
// the result in its place, with every other writer kept out.
func change(path string, edit func(*document) error) (err error) {
	old, err := existing(path)
	if err != nil {
		return err
	}
	unlock, err := lock(path+".lock", old)
	if err != nil {
		return err
	}
	defer unlock()

	d, err := read(path, noFollow)
	if errors.Is(err, fs.ErrNotExist) {
		d, err = &document{lines: []string{header}}, nil
	}
	if err != nil {
		return err
	}
	if err := edit(d); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return replace(path, d.bytes())
}

// existing returns the file at path, nil if there is none. A symbolic link is an
// error: the owner of its directory could make root change a file elsewhere.
func existing(path string) (fs.FileInfo, error) {
	fi, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err == nil && fi.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%s: is a symbolic link, through which keys are not changed; name the file that it points to", path)
	}
	return fi, err
}

// read reads a key file; flag is 0 or noFollow. Its errors name the file, and
// the line if one is at fault.
func read(path string, flag int) (*document, error) {
	data, err := readBytes(path, flag)
	if err != nil {
		return nil, err
	}
	d, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

func readBytes(path string, flag int) ([]byte, error) {
	fi, err := os.Stat(path) // before opening: to open a named pipe waits for a writer
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a key file: not a regular file", path)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|flag, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err == nil && len(data) > maxFileSize {
		err = fmt.Errorf("%s: not a key file: larger than %d MiB", path, maxFileSize>>20)
	}
	return data, err
}

// replace puts data in the place of the file at path, whole or not at all.
// Mode and owner of a file that is there stay, so that a key added by root
// does not lock out the server that reads the file.
func replace(path string, data []byte) (err error) {
	// The lock is held: a file of this name was left by a writer that died.
	tmp := path + ".tmp"
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		f.Close() // a second time where all went well, to no effect
		if err != nil {
			os.Remove(tmp)
		}
	}()
	old, err := existing(path)
	if err != nil {
		return err
	}
	if old != nil {
		if err := keepOwner(f, old); err != nil {
			return fmt.Errorf("%s: cannot be changed by this user: its owner would change: %w", path, err)
		}
		if err := f.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// How long a writer waits for another. A change takes milliseconds, and the
// system frees the lock of a process that ends in whatever way.
const (
	lockTimeout = 5 * time.Second
	lockPoll    = 5 * time.Millisecond
)

// lock takes the lock that the file at path stands for. The file belongs to
// the same user as beside, if that is not nil, so that this user can lock it
// the next time. It is never removed: a writer might hold the lock on a file
// that no longer has the name, and another one on its successor.
func lock(path string, beside os.FileInfo) (unlock func(), err error) {
	for deadline := time.Now().Add(lockTimeout); ; time.Sleep(lockPoll) {
		f, err := tryLock(path, beside)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, errLocked) {
			return nil, err
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("%s: another process has been changing the key file for %v; try again when it has ended", path, lockTimeout)
		}
	}
}

var errLocked = errors.New("locked")
