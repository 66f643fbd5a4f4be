package storage_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// TestSaveTo: a copy of a store in use is whole and sound, or is not kept, and a file
// that is there is.
func TestSaveTo(t *testing.T) {
	dir := t.TempDir()
	path, copied := filepath.Join(dir, "pets.db"), filepath.Join(dir, "copy.db")
	writeFile(t, path, spoil(t, small(t).file, "message "))
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
		createPets(t, s, 1, s.Info().Pets+1)
		s.Close()
		s = open(t, path)
	}
	if pets, others, err := small(t).read(t.Context(), open(t, copied)); pets+others > 0 || err != nil {
		t.Errorf("%d reads of the copy fail: %v", pets+others, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.SaveTo(ctx, path+"2"); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
	s.Close()
	if err := s.SaveTo(t.Context(), path+"2"); petstore.CodeOf(err) != petstore.CodeUnavailable {
		t.Errorf("a copy of a closed store: %v", err)
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
	one, copied := process.ReadFile(t, target), small(t).file
	writeFile(t, backup, copied)
	refused := func(what string, want error) {
		t.Helper()
		if _, err := storage.Restore(path, backup); !errors.Is(err, want) {
			t.Errorf("%s: Restore returned %v, want %v", what, err, want)
		}
		wantFiles(t, dir, "copy.db", "link.db", "pets.db")
	}
	for what, inUse := range map[string]string{"the store is open": path, "the copy is open": backup} {
		s := open(t, inUse)
		refused(what, storage.ErrLocked)
		s.Close()
	}
	writeFile(t, backup, spoil(t, copied, "message "))
	refused("the copy is damaged", storage.ErrDamaged)

	writeFile(t, target, one)
	writeFile(t, backup, copied)
	for _, was := range [][]byte{one, copied} {
		kept, err := storage.Restore(path, backup)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(process.ReadFile(t, kept), was) || !bytes.Equal(process.ReadFile(t, target), copied) {
			t.Error("the files differ from what they were")
		}
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
	none := filepath.Join(dir, "none.db")
	if kept, err := storage.Restore(none, backup); kept != "" || err != nil {
		t.Errorf("with no store there, Restore returned %q, %v", kept, err)
	}
	mustCheck(t, none)
}
