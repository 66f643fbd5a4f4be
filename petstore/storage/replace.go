package storage

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// replace puts a file at path, whole or not at all: fill writes it to temp, which
// gets the name path once it is on disk. old is the file that has this name now; nil:
// there is none. While replace runs, no store can be opened on old. If one is open
// already, the error wraps [ErrLocked]. If old is nil and a file appears meanwhile,
// that file is kept, and the error wraps fs.ErrExist. The new file has the owner of
// old, if the process may change the owner.
func replace(path string, fill func(temp, old *os.File) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	old, err := openRegular(path, os.O_RDWR)
	if err == nil {
		defer old.Close()
		err := lockExclusive(old)
		if err == nil {
			err = stillAt(path, old)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dir := filepath.Dir(path)
	temp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	if old != nil {
		keepOwner(temp, old)
	}
	if err = fill(temp, old); err == nil {
		err = temp.Sync()
	}
	if err := errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if old == nil {
		// Link does not replace a file, but Rename does. Some file systems have no
		// links.
		err = os.Link(temp.Name(), path)
	}
	if old != nil || err != nil && !errors.Is(err, fs.ErrExist) {
		if runtime.GOOS == "windows" {
			old.Close() // an open file cannot be replaced there
		}
		err = os.Rename(temp.Name(), path)
	}
	return cmp.Or(err, syncDir(dir))
}

// stillAt returns [ErrLocked] if another process has replaced f at path before it
// was locked: what that process wrote would be lost.
func stillAt(path string, f *os.File) error {
	ours, err := f.Stat()
	there, err2 := os.Stat(path)
	if err := cmp.Or(err, err2); err != nil {
		return err
	}
	if !os.SameFile(ours, there) {
		return ErrLocked
	}
	return nil
}

// SaveBackup makes a file at path from the copy of a store that download writes, as
// [Store.Snapshot] returns it. The file is whole and checked, or is not made. If
// there is a file, SaveBackup fails with fs.ErrExist, or replaces it if overwrite
// is true and it is a store that is not in use.
func SaveBackup(path string, overwrite bool, download func(io.Writer) error) error {
	if overwrite {
		foreign := false
		err := Check(path, func(err error) { foreign = foreign || errors.Is(err, ErrForeign) })
		if foreign {
			err = fmt.Errorf("%s: %w", path, ErrForeign)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return replace(path, func(temp, old *os.File) error {
		if old != nil && !overwrite {
			return fmt.Errorf("%s: %w", path, fs.ErrExist)
		}
		if err := download(temp); err != nil {
			return err
		}
		return finishCopy(temp.Name())
	})
}

// Restore replaces the store at path by a copy of the file backup, after it has
// checked the copy. It returns the new name of the file that was there; "": there
// was none. After a crash at any moment, either the old file or the new one is
// there, whole.
func Restore(path, backup string) (kept string, err error) {
	from, err := openShared(backup)
	if err != nil {
		return "", fmt.Errorf("the copy: %w", err)
	}
	defer from.Close()
	err = replace(path, func(temp, old *os.File) error {
		if _, err := io.Copy(temp, from); err != nil {
			return err
		}
		if err := finishCopy(temp.Name()); err != nil {
			return fmt.Errorf("the copy: %w", err)
		}
		if old == nil {
			return nil
		}
		kept = old.Name() + ".replaced-" + time.Now().UTC().Format("20060102T150405.000Z")
		return keep(old, kept)
	})
	return kept, err
}

// keep gives a file a second name, or makes a copy where there are no links.
func keep(f *os.File, name string) error {
	err := os.Link(f.Name(), name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return cmp.Or(err, syncDir(filepath.Dir(name)))
	}
	to, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, f)
	return errors.Join(err, to.Sync(), to.Close())
}

// finishCopy marks the copy of an open store as closed, and checks it.
func finishCopy(path string) error {
	s, err := open(path, (*Options)(nil).filled(), false)
	if err != nil {
		return err
	}
	s.db.AllocSize = 0 // make the file no longer than it must be
	if err := s.Close(); err != nil {
		return err
	}
	var damage error
	err = Check(path, func(err error) { damage = cmp.Or(damage, err) })
	return cmp.Or(err, damage)
}
