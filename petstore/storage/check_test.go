package storage_test

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// problems returns what a check reports, a line each.
func problems(t testing.TB, path string) string {
	t.Helper()
	var b strings.Builder
	if err := storage.Check(path, func(err error) { b.WriteString(err.Error() + "\n") }); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCheckSound checks sound files as more and more is added to them, the first one
// while many outcomes expire.
func TestCheckSound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pets.db")
	writeFile(t, path, deep(t).file)
	for n := range 10 {
		s := open(t, path)
		if _, err := s.Load(t.Context(), pets(1<<n, -1)); err != nil {
			t.Fatal(err)
		}
		inParallel(t, 0, 1000>>n, func(int) error { // for large transactions
			_, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{})
			return err
		})
		for i := range n {
			if _, err := s.CreatePet(t.Context(), petstore.NewPet{}, keyOf(-n<<8-i)); err != nil {
				t.Fatal(err)
			}
			if _, err := s.SubmitMessage(t.Context(), "hello", keyOf(-n<<8-i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.RemoveMessages(t.Context(), petstore.MessageID(int64(n))); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got := problems(t, path); got != "" {
			t.Fatalf("after %d rounds:\n%s", n, got)
		}
	}
}

// TestCheckFinds damages what a store has no reason to look at when it is opened, in
// ways that leave every checksum right.
func TestCheckFinds(t *testing.T) {
	first := func(bucket string) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error {
			c := tx.Bucket([]byte(bucket)).Cursor()
			c.First()
			return c.Delete()
		}
	}
	for _, tt := range []struct {
		name string
		edit func(*bbolt.Tx) error
		says string
	}{
		{"a pet lost", first("pets"), "pets has a gap after 0"},
		{"a pet lost from its status", first("status/available"), "status/available has a gap after 0"},
		{"an outcome lost", first("once/0"), "once/0 holds 39 outcomes, want 40"},
		{"a message lost", first("queue"), "the queue holds 19 messages, want 20"},
		{"a bucket lost", func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("queue")) }, "the bucket queue is missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "pets.db")
			writeFile(t, path, small(t).file)
			edit(t, path, tt.edit)
			if got := problems(t, path); !strings.Contains(got, tt.says) || strings.Count(got, "\n") != 1 {
				t.Errorf("the check reports:\n%swant it to say %q", got, tt.says)
			}
		})
	}
}

// TestCheckRefuses checks and exports what cannot be read as a store.
func TestCheckRefuses(t *testing.T) {
	dir := t.TempDir()
	busy, newer, text := filepath.Join(dir, "busy"), filepath.Join(dir, "newer"), filepath.Join(dir, "text")
	open(t, busy)
	makeStore(t, newer)
	edit(t, newer, storage.SetSchema)
	process.WriteFile(t, text, []byte(strings.Repeat("hello ", 10000)))
	for path, want := range map[string]error{
		filepath.Join(dir, "none"): fs.ErrNotExist, dir: nil,
		busy: storage.ErrLocked, newer: storage.ErrNewer, text: storage.ErrForeign,
	} {
		report := func(err error) { t.Errorf("%s: reported %v", path, err) }
		_, err := storage.Export(path, io.Discard, report)
		for _, err := range []error{err, storage.Check(path, report)} {
			if err == nil || want != nil && !errors.Is(err, want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: the check or the export returned %v, want %v", path, err, want)
			}
		}
	}
}
