package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"example.com/animalstore/petstore"
)

// Backup writes a copy of the store, as it was at one moment of the call, to a
// new file at path (mode 0600). The file appears under its name once it is
// whole and on disk; if there is one already, the error is fs.ErrExist and
// that one stays. What was acknowledged before the call is in it.
//
// The store goes on serving meanwhile. The error wraps ctx's once that is
// done; on any error nothing is left behind.
func (s *Store) Backup(ctx context.Context, path string) error {
	err := makeWhole(path, func(temporary string) error {
		f, err := os.OpenFile(temporary, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		err = s.copyTo(ctx, f)
		if err == nil {
			err = f.Sync()
		}
		return errors.Join(err, f.Close())
	})
	if err != nil {
		return fmt.Errorf("backing up the store: %w", err)
	}
	return nil
}

// Snapshot returns a copy of the store, as it was at one moment of the call,
// and its length in bytes. It is an ordinary file beside the store's, so that
// a slow reader is in nobody's way; closing it frees its room.
//
// Errors: petstore.CodeFull if there is no room for the copy; ctx's.
func (s *Store) Snapshot(ctx context.Context) (io.ReadCloser, int64, error) {
	f, err := os.CreateTemp(filepath.Dir(s.path), "."+filepath.Base(s.path)+".copy-*") // mode 0600
	if err != nil {
		return nil, 0, err
	}
	_ = os.Remove(f.Name()) // where that can be done to an open file, nothing stays after a crash
	c := temporary{f}
	if err := s.copyTo(ctx, f); err != nil {
		_ = c.Close()
		return nil, 0, err
	}
	size, err := f.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = c.Close()
		return nil, 0, err
	}
	return c, size, nil
}

// temporary is a file that is gone once it is closed.
type temporary struct{ *os.File }

func (t temporary) Close() error {
	err := t.File.Close()
	_ = os.Remove(t.Name())
	return err
}

// copyTo writes a copy of the store to f, which must be fast: pages that are
// freed meanwhile are not used again until the copy is done.
func (s *Store) copyTo(ctx context.Context, f *os.File) (err error) {
	p, err := s.snapshot(ctx)
	if err != nil {
		return err
	}
	defer p.release()
	defer func() { s.foundDamage(err) }()
	defer recoverDamage(&err)()
	var cause error // bbolt passes on the text of some failures, but not the error
	_, err = p.tx.WriteTo(writer(func(b []byte) (n int, err error) {
		defer func() { cause = err }()
		if err := s.usable(ctx); err != nil {
			return 0, err
		}
		s.mu.RLock()
		closed := s.closed
		s.mu.RUnlock()
		if closed {
			return 0, errClosed
		}
		return f.Write(b)
	}))
	if cause == nil && errors.Is(err, io.EOF) {
		return damaged("it was cut short while it was copied")
	}
	err = cmp.Or(cause, err)
	if err != nil && noSpace(err) {
		return &petstore.Error{Code: petstore.CodeFull, Message: "there is no room for a copy of the store", Err: err}
	}
	return err
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }
