package storage_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// TestSnapshot takes a copy of a store in use.
func TestSnapshot(t *testing.T) {
	dir := t.TempDir()
	path, copied := filepath.Join(dir, "pets.db"), filepath.Join(dir, "copy.db")
	writeFile(t, path, small(t).file)
	s := open(t, path)
	backup, size, err := s.Backup(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	createPets(t, s, 1, smallPets+1)
	b, err := io.ReadAll(backup)
	if err = errors.Join(err, backup.Close()); err != nil || int64(len(b)) != size {
		t.Errorf("read %d bytes of %d, %v", len(b), size, err)
	}
	writeFile(t, copied, b)
	if pets, others, err := small(t).read(t.Context(), open(t, copied)); pets+others > 0 || err != nil {
		t.Errorf("%d reads of the copy fail: %v", pets+others, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.Backup(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
	s.Close()
	if _, _, err := s.Backup(t.Context()); petstore.CodeOf(err) != petstore.CodeUnavailable {
		t.Errorf("a copy of a closed store: %v", err)
	}
	wantFiles(t, dir, "copy.db", "pets.db")
}

// TestSaveTo: a copy is whole and sound, or is not kept, and a file that is there is.
func TestSaveTo(t *testing.T) {
	dir := t.TempDir()
	path, copied := filepath.Join(dir, "pets.db"), filepath.Join(dir, "copy.db")
	writeFile(t, path, bytes.ReplaceAll(small(t).file, []byte("message 7"), []byte("message 8")))
	s := open(t, path)
	if err := s.SaveTo(t.Context(), copied); !errors.Is(err, storage.ErrDamaged) {
		t.Errorf("a copy of a damaged store: %v", err)
	}
	wantFiles(t, dir, "pets.db")
	s.Close()
	writeFile(t, path, small(t).file)
	s = open(t, path)
	for _, want := range []error{nil, fs.ErrExist} {
		if err := s.SaveTo(t.Context(), copied); !errors.Is(err, want) {
			t.Errorf("SaveTo returned %v, want %v", err, want)
		}
		if got := problems(t, copied); got != "" {
			t.Errorf("the copy is not sound: %s", got)
		}
	}
	wantFiles(t, dir, "copy.db", "pets.db")
}

// TestRestore replaces a store that is found by a symbolic link, twice. Each file that
// was there is kept.
func TestRestore(t *testing.T) {
	dir := t.TempDir()
	path, target, backup := filepath.Join(dir, "link.db"), filepath.Join(dir, "pets.db"), filepath.Join(dir, "copy.db")
	if err := os.Symlink(target, path); err != nil {
		t.Skip(err)
	}
	makeStore(t, target)
	one := process.ReadFile(t, target)
	writeFile(t, backup, small(t).file)

	refused := func(what string, want error) {
		t.Helper()
		if _, err := storage.Restore(path, backup); !errors.Is(err, want) {
			t.Errorf("%s: Restore returned %v, want %v", what, err, want)
		}
		wantFiles(t, dir, "copy.db", "link.db", "pets.db")
	}
	s := open(t, path)
	refused("the store is open", storage.ErrLocked)
	createPets(t, s, 1, 2)
	s.Close()
	process.WriteFile(t, target, one)
	s = open(t, backup)
	refused("the copy is open", storage.ErrLocked)
	s.Close()
	process.WriteFile(t, backup, bytes.ReplaceAll(small(t).file, []byte("message 7"), []byte("message 8")))
	refused("the copy is damaged", storage.ErrDamaged)
	if !bytes.Equal(process.ReadFile(t, path), one) {
		t.Error("a Restore that failed changed the store")
	}

	writeFile(t, backup, small(t).file)
	for _, was := range [][]byte{one, small(t).file} {
		kept, err := storage.Restore(path, backup)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(process.ReadFile(t, kept), was) || !bytes.Equal(process.ReadFile(t, target), small(t).file) {
			t.Error("the files differ from what they were")
		}
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
	none := filepath.Join(dir, "none.db")
	if kept, err := storage.Restore(none, backup); kept != "" || err != nil || problems(t, none) != "" {
		t.Errorf("with no store there, Restore returned %q, %v", kept, err)
	}
}
