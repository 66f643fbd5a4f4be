package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"example.com/animalstore/petstore"
)

// SaveTo makes a new file at path with a copy of the store, as it was at one moment of
// the call. The file is whole and checked, or is not made. Until it is written, the
// store does not use the pages of that moment again.
//
// Errors: fs.ErrExist if there is a file; petstore.CodeFull; ctx's; [ErrDamaged]. The
// damage may be of the copy alone, so it does not stop changes.
func (s *Store) SaveTo(ctx context.Context, path string) error {
	return createFile(path, nil, func(temp *os.File) error {
		if err := s.copyTo(ctx, temp); err != nil {
			return err
		}
		return checkCopy(temp.Name())
	})
}

// copyTo writes the store, as it is now, to f.
func (s *Store) copyTo(ctx context.Context, f *os.File) error {
	w := &copyWriter{ctx: ctx, s: s, f: f}
	err := s.view(ctx, func(tx *transaction) error {
		_, err := tx.WriteTo(w)
		if w.err == nil && errors.Is(err, io.EOF) {
			return damaged("it was cut short while it was copied")
		}
		return cmp.Or(w.err, err)
	})
	if err != nil && noSpace(err) {
		err = &petstore.Error{Code: petstore.CodeFull, Message: "there is no room for a copy of the store", Err: err}
	}
	return err
}

// copyWriter writes to f until the call or the store ends.
type copyWriter struct {
	ctx context.Context
	s   *Store
	f   *os.File
	err error // of the last Write; bbolt returns the text of some errors only
}

func (w *copyWriter) Write(b []byte) (n int, err error) {
	if _, w.err = w.s.shown(w.ctx); w.err == nil {
		n, w.err = w.f.Write(b)
	}
	return n, w.err
}

// Restore replaces the store at path by a copy of the file backup, after it has
// checked the copy. It returns the new name of the file that was there; "": there
// was none. After a crash at any moment, either the old file or the new one is
// there, whole. Errors: [ErrLocked] if either file is in use; [ErrDamaged].
func Restore(path, backup string) (kept string, err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	from, err := openLocked(backup, os.O_RDONLY)
	if err != nil {
		return "", fmt.Errorf("the copy: %w", err)
	}
	defer from.Close()
	old, err := openLocked(path, os.O_RDWR)
	if err == nil {
		defer old.Close()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	err = createFile(path, old, func(temp *os.File) error {
		if _, err := io.Copy(temp, from); err != nil {
			return err
		}
		if err := checkCopy(temp.Name()); err != nil || old == nil {
			return err
		}
		kept = path + ".replaced-" + time.Now().UTC().Format("20060102T150405.000Z")
		if err := os.Link(path, kept); err != nil {
			return fmt.Errorf("the old file cannot be kept, so move it away: %w", err)
		}
		return syncDir(filepath.Dir(kept))
	})
	if err != nil {
		return "", err
	}
	return kept, nil
}

func checkCopy(path string) error {
	if err := check(path); err != nil {
		return fmt.Errorf("the copy: %w", err)
	}
	return nil
}
