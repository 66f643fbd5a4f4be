package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"example.com/animalstore/internal/newfile"
)

// Backup makes a new file at path with a copy of the store, as it was at one moment of
// the call. The file is whole and checked, or is not made. Until it is written, the
// store does not use the pages of that moment again.
//
// Errors: fs.ErrExist if there is a file; ctx's; [ErrDamaged]. The damage may be of the
// copy alone, so it does not stop changes.
func (s *Store) Backup(ctx context.Context, path string) error {
	return newfile.Create(path, func(temp *os.File) error {
		if err := s.copyTo(ctx, temp); err != nil {
			return err
		}
		return checkCopy(temp.Name())
	})
}

// copyTo writes the store, as it is now, to f.
func (s *Store) copyTo(ctx context.Context, f *os.File) error {
	return s.view(ctx, func(tx *transaction) error {
		_, err := tx.WriteTo(copyWriter{ctx, s, f})
		if errors.Is(err, io.EOF) {
			return damaged("it was cut short while it was copied")
		}
		return err
	})
}

// copyWriter writes to f until the call or the store ends.
type copyWriter struct {
	ctx context.Context
	s   *Store
	f   *os.File
}

func (w copyWriter) Write(b []byte) (int, error) {
	if _, err := w.s.shown(w.ctx); err != nil {
		return 0, err
	}
	return w.f.Write(b)
}

// Restore makes a store at path of the file backup, whole or not at all, after it has
// checked the copy. It never replaces a file.
//
// Errors: fs.ErrExist if there is a file at path; [ErrLocked] if backup is in use;
// [ErrDamaged].
func Restore(path, backup string) error {
	return newfile.Create(path, func(temp *os.File) error {
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
	if err := check(path, func(err error) error { return err }); err != nil {
		return fmt.Errorf("the copy: %w", err)
	}
	return nil
}
