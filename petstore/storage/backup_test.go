package storage_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
)

// TestSnapshot takes a copy of a store in use.
func TestSnapshot(t *testing.T) {
	dir := t.TempDir()
	path, copied := filepath.Join(dir, "pets.db"), filepath.Join(dir, "copy.db")
	writeFile(t, path, small(t).file)
	s := open(t, path)
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
	process.WriteFile(t, copied, b)
	if got := problems(t, copied); got != "" {
		t.Errorf("the copy:\n%s", got)
	}
	if pets, others, err := small(t).read(t.Context(), open(t, copied)); pets+others > 0 || err != nil {
		t.Errorf("%d reads of the copy fail: %v", pets+others, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.Snapshot(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
	s.Close()
	if _, _, err := s.Snapshot(t.Context()); petstore.CodeOf(err) != petstore.CodeUnavailable {
		t.Errorf("a copy of a closed store: %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("the copies left %v (%v)", entries, err)
	}
}
