package storage_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// TestBackup: a copy of a store in use is whole and sound, or is not kept, and a file
// that is there is.
func TestBackup(t *testing.T) {
	dir := t.TempDir()
	path, copied := filepath.Join(dir, "pets.db"), filepath.Join(dir, "copy.db")
	writeFile(t, path, spoil(t, small(t).file, "message "))
	s := open(t, path)
	if err := s.Backup(t.Context(), copied); !errors.Is(err, storage.ErrDamaged) {
		t.Errorf("a copy of a damaged store: %v", err)
	}
	wantFiles(t, dir, "pets.db")
	s.Close()
	writeFile(t, path, small(t).file)
	s = open(t, path)
	for _, want := range []error{nil, fs.ErrExist} {
		if err := s.Backup(t.Context(), copied); !errors.Is(err, want) {
			t.Errorf("Backup returned %v, want %v", err, want)
		}
		createPets(t, s, 1, countPets(t, s)+1)
		s.Close()
		s = open(t, path)
	}
	if pets, others, err := small(t).read(t.Context(), open(t, copied)); pets+others > 0 || err != nil {
		t.Errorf("%d reads of the copy fail: %v", pets+others, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Backup(ctx, path+"2"); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
	s.Close()
	if err := s.Backup(t.Context(), path+"2"); petstore.CodeOf(err) != petstore.CodeUnavailable {
		t.Errorf("a copy of a closed store: %v", err)
	}
	wantFiles(t, dir, "copy.db", "pets.db")
}

// TestRestore: a copy becomes a store if it is sound and there is none.
func TestRestore(t *testing.T) {
	dir := t.TempDir()
	path, backup := filepath.Join(dir, "pets.db"), filepath.Join(dir, "copy.db")
	copied := small(t).file
	refused := func(what string, want error, files ...string) {
		t.Helper()
		if err := storage.Restore(path, backup); !errors.Is(err, want) {
			t.Errorf("%s: Restore returned %v, want %v", what, err, want)
		}
		wantFiles(t, dir, files...)
	}
	refused("there is no copy", fs.ErrNotExist)
	writeFile(t, backup, spoil(t, copied, "message "))
	refused("the copy is damaged", storage.ErrDamaged, "copy.db")
	writeFile(t, backup, copied)
	s := open(t, backup)
	refused("the copy is in use", storage.ErrLocked, "copy.db")
	s.Close()
	writeFile(t, backup, copied)
	if err := storage.Restore(path, backup); err != nil {
		t.Fatal(err)
	}
	mustCheck(t, path)
	writeFile(t, path, []byte("newer"))
	refused("there is a store", fs.ErrExist, "copy.db", "pets.db")
	if got := process.ReadFile(t, path); string(got) != "newer" {
		t.Errorf("the store is now %q", got)
	}
}
