package storage_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"example.com/animalstore/petstore"
)

// TestBackup takes copies of a store in use.
func TestBackup(t *testing.T) {
	dir := t.TempDir()
	path, copied := filepath.Join(dir, "pets.db"), filepath.Join(dir, "copy.db")
	writeFile(t, path, small(t).file)
	s := open(t, path)
	if err := s.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(t.Context(), copied); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second copy of that name returned %v", err)
	}
	if got := problems(t, copied); got != "" {
		t.Errorf("the copy:\n%s", got)
	}
	snapshot, size, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreatePet(t.Context(), petstore.NewPet{Name: "later"}, petstore.Once{}); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(snapshot)
	if err != nil || int64(len(b)) != size {
		t.Fatalf("read %d bytes of %d: %v", len(b), size, err)
	}
	snapshot.Close()
	second := filepath.Join(dir, "second.db")
	if err := os.WriteFile(second, b, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{copied, second} {
		if pets, others, err := small(t).read(t.Context(), open(t, name)); pets+others > 0 || err != nil {
			t.Errorf("of the copy %d reads fail: %v", pets+others, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Backup(ctx, filepath.Join(dir, "never.db")); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
	s.Close()
	if _, _, err := s.Snapshot(t.Context()); petstore.CodeOf(err) != petstore.CodeUnavailable {
		t.Errorf("a copy of a closed store: %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("the copies left %v (%v)", entries, err)
	}
}
