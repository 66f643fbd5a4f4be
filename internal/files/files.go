// Package files makes files whole or not at all, and refuses what is not a file.
package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// CheckRegular fails if there is a directory or a device at path: to open or read one may block
// forever.
func CheckRegular(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return &fs.PathError{Op: "open", Path: path, Err: errors.New("it is a directory or a device, not a regular file")}
	}
	return nil
}

// Create makes a file at path, whole or not at all: fill writes it to temp, whose name ends
// in .part, and which gets the name path once it is on disk. If there is a file at path by
// then, Create keeps it and fails with fs.ErrExist.
func Create(path string, fill func(temp *os.File) error) error {
	exists := fmt.Errorf("%s: %w", path, fs.ErrExist)
	if _, err := os.Lstat(path); err == nil {
		return exists
	}
	dir := filepath.Dir(path)
	// The error names the directory, not a temporary file in it. At the end, it would come
	// too late.
	if err := syncDir(dir); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, filepath.Base(path)+".*.part") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	if err = fill(temp); err == nil {
		err = temp.Sync()
	}
	if err := errors.Join(err, temp.Close()); err != nil {
		return err
	}
	// Link does not replace a file, but Rename does. Some file systems have no links.
	if err = os.Link(temp.Name(), path); errors.Is(err, fs.ErrExist) {
		return exists
	} else if err != nil {
		if _, err := os.Lstat(path); err == nil { // it was made while fill ran
			return exists
		}
		if err := os.Rename(temp.Name(), path); err != nil {
			return err
		}
	}
	return syncDir(dir)
}
