package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"example.com/animalstore/petstore"
)

// Backup makes a new file at path with a copy of the store, as it was at one moment of
// the call. The file is whole and checked, or is not made. Until it is written, the
// store does not use the pages of that moment again.
//
// Errors: fs.ErrExist if there is a file; petstore.CodeInsufficientStorage; ctx's;
// [ErrDamaged]. The damage may be of the copy alone, so it does not stop changes.
func (s *Store) Backup(ctx context.Context, path string) error {
	return createFile(path, func(temp *os.File) error {
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
		err = &petstore.Error{Code: petstore.CodeInsufficientStorage, Message: "there is no room for a copy of the store", Err: err}
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

// Restore makes a store at path of the file backup, whole or not at all, after it has
// checked the copy. It never replaces a file.
//
// Errors: fs.ErrExist if there is a file at path; [ErrLocked] if backup is in use;
// [ErrDamaged].
func Restore(path, backup string) error {
	return createFile(path, func(temp *os.File) error {
		from, err := openLocked(backup, os.O_RDONLY)
		if err != nil {
			return fmt.Errorf("the copy: %w", err)
		}
		defer from.Close()
		if _, err := io.Copy(temp, from); err != nil {
			return err
		}
		return checkCopy(temp.Name())
	})
}

func checkCopy(path string) error {
	if err := check(path); err != nil {
		return fmt.Errorf("the copy: %w", err)
	}
	return nil
}
