package storage_test

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/petstore/storage"
)

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
		edit func(*bbolt.Tx) error
		says string
	}{
		{first("pets"), "pets has a gap after 0"},
		{first("status/available"), "status/available has a gap after 0"},
		{first("queue"), "the queue holds 19 messages, want 20"},
		{func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("queue")) }, "the bucket queue is missing"},
	} {
		path := dbPath(t)
		writeFile(t, path, small(t).file)
		edit(t, path, tt.edit)
		if err := storage.Check(path); !errors.Is(err, storage.ErrDamaged) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("the check returned %v, want %q", err, tt.says)
		}
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
		filepath.Join(dir, "none"): fs.ErrNotExist, busy: storage.ErrLocked, newer: storage.ErrNewer, text: storage.ErrNotPetstore,
	} {
		_, err := storage.Export(path, io.Discard, &storage.ExportOptions{SkipDamaged: true, OnDamage: func(err error) { t.Errorf("%s: reported %v", path, err) }})
		for _, err := range []error{err, storage.Check(path)} {
			if !errors.Is(err, want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: the check or the export returned %v, want %v", path, err, want)
			}
		}
	}
}
