package storage

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"example.com/animalstore/petstore"
)

// Snapshot returns a copy of the store, as it was at one moment of the call,
// and its length in bytes. The copy is a temporary file beside the store's, so a
// slow reader does not keep the store from using its pages again. Close removes
// the file.
//
// Errors: petstore.CodeFull if there is no room for the copy; ctx's.
func (s *Store) Snapshot(ctx context.Context) (io.ReadCloser, int64, error) {
	f, err := os.CreateTemp(filepath.Dir(s.path), "."+filepath.Base(s.path)+".copy-*") // mode 0600
	if err != nil {
		return nil, 0, err
	}
	_ = os.Remove(f.Name()) // where an open file can be removed, it does not stay after a crash
	size, err := s.copyTo(ctx, f)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = temporary{f}.Close()
		return nil, 0, err
	}
	return temporary{f}, size, nil
}

// temporary is a file that Close removes.
type temporary struct{ *os.File }

func (t temporary) Close() error {
	err := t.File.Close()
	_ = os.Remove(t.Name())
	return err
}

// copyTo writes a copy of the store to f and returns its length. f must be fast:
// pages that are freed meanwhile are not used again until the copy is done.
func (s *Store) copyTo(ctx context.Context, f *os.File) (size int64, err error) {
	p, err := s.snapshot(ctx)
	if err != nil {
		return 0, err
	}
	defer p.reads.RUnlock()
	w := &copyWriter{ctx: ctx, s: s, f: f}
	err = safely(func() (err error) {
		size, err = p.tx.WriteTo(w)
		return err
	})
	if w.err == nil && errors.Is(err, io.EOF) {
		err = damaged("it was cut short while it was copied")
	}
	if err = cmp.Or(w.err, err); err != nil && noSpace(err) {
		err = &petstore.Error{Code: petstore.CodeFull, Message: "there is no room for a copy of the store", Err: err}
	}
	s.foundDamage(err)
	return size, err
}

// copyWriter writes to f until the call or the store ends.
type copyWriter struct {
	ctx context.Context
	s   *Store
	f   *os.File
	err error // of the last Write; bbolt returns the text of some errors only
}

func (w *copyWriter) Write(b []byte) (n int, err error) {
	if w.err = w.s.usable(w.ctx); w.err == nil && isClosed(w.s.closing) {
		w.err = errClosed
	}
	if w.err == nil {
		n, w.err = w.f.Write(b)
	}
	return n, w.err
}
