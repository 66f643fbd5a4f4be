package storage_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// problems returns what a check reports, a line each.
func problems(t *testing.T, path string) string {
	t.Helper()
	var b strings.Builder
	if err := storage.Check(path, func(err error) { b.WriteString(err.Error() + "\n") }); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCheckSound checks sound files as more and more is added to them.
func TestCheckSound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pets.db")
	for n := range 12 {
		s := open(t, path)
		if got := checkError(t, path); !errors.Is(got, storage.ErrLocked) {
			t.Errorf("the check of a file in use returned %v", got)
		}
		if _, err := s.Load(t.Context(), pets(1<<n, -1)); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if _, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{Key: strings.Repeat("k", i+1)}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.SubmitMessage(t.Context(), "hello", petstore.Once{Key: strings.Repeat("k", i+1)}); err != nil {
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

// checkError returns the error of a check, which must report no damage.
func checkError(t *testing.T, path string) error {
	t.Helper()
	return storage.Check(path, func(err error) { t.Errorf("reported: %v", err) })
}

// TestCheckFinds damages what a store has no reason to look at when it is
// opened, in ways that leave every checksum right.
func TestCheckFinds(t *testing.T) {
	one := []byte("\x00\x00\x00\x00\x00\x00\x00\x01")
	tests := []struct {
		name string
		edit func(tx *bbolt.Tx) error
		says string
	}{
		{"a pet lost", func(tx *bbolt.Tx) error { return tx.Bucket([]byte("pets")).Delete(one) }, "pets has nothing from 0 to 31"},
		{"a pet lost from its status", func(tx *bbolt.Tx) error { return tx.Bucket([]byte("status/available")).Delete(one) }, "status/available has nothing from 0 to 109"},
		{"an outcome lost", func(tx *bbolt.Tx) error {
			b := tx.Bucket([]byte("once/0"))
			k, _ := b.Cursor().First()
			return b.Delete(k)
		}, "once/0 does not hold the outcomes that were stored last"},
		{"a message lost", func(tx *bbolt.Tx) error {
			b := tx.Bucket([]byte("queue"))
			k, _ := b.Cursor().Seek(one)
			return b.Delete(k)
		}, "the queue holds 19 messages"},
		{"a bucket too many", func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("extra")); return err }, `"extra"`},
		{"a bucket too few", func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("queue")) }, "the bucket queue is missing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "pets.db")
			writeFile(t, path, small(t).file)
			edit(t, path, tt.edit)
			if got := problems(t, path); !strings.Contains(got, tt.says) {
				t.Errorf("the check reports:\n%swant it to say %q", got, tt.says)
			}
		})
	}
}

// TestCheckFreelist changes ids on the freelist one by one: to one that is in
// use, to one that is free already, and to none. Then it drops the last two.
func TestCheckFreelist(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pets.db")
	whole := small(t).file
	list := pagesOf(whole, freelistPage)[0]
	free, leaf := pagesOf(whole, 0), pagesOf(whole, leafPage)[0]
	for _, id := range []int{leaf, free[1], len(whole) / pageSize, 0} {
		b := bytes.Clone(whole)
		pageOf(b, list)[16] = byte(id)
		pageOf(b, list)[17] = byte(id >> 8)
		writeFile(t, path, b)
		if got := problems(t, path); !strings.Contains(got, "freelist") {
			t.Errorf("with the page %d on the freelist, the check reports:\n%s", id, got)
		}
	}
	b := bytes.Clone(whole)
	pageOf(b, list)[10] -= 2
	writeFile(t, path, b)
	if got := problems(t, path); strings.Count(got, "is neither in use nor on the freelist") != 2 {
		t.Errorf("with two pages less on the freelist, the check reports:\n%s", got)
	}
}

func TestCheckRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pets.db")
	for name, want := range map[string]error{filepath.Join(dir, "none"): fs.ErrNotExist, dir: nil} {
		if err := checkError(t, name); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("checking %s returned %v", name, err)
		}
		if _, err := storage.Export(name, io.Discard, nil); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("exporting from %s returned %v", name, err)
		}
	}
	makeStore(t, path)
	edit(t, path, storage.SetSchema)
	if err := checkError(t, path); !errors.Is(err, storage.ErrNewer) {
		t.Errorf("checking a newer file returned %v", err)
	}
	if err := os.WriteFile(path, []byte(strings.Repeat("hello ", 10000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := problems(t, path); !strings.Contains(got, "not a petstore") {
		t.Errorf("the check of a text reports %q", got)
	}
}

// TestCheckExpired checks a file in which many outcomes have expired, after whole
// leaves of them were emptied in one transaction.
func TestCheckExpired(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pets.db")
	writeFile(t, path, deep(t).file)
	s := open(t, path)
	inParallel(t, 0, 1000, func(int) error { // for large transactions
		_, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{})
		return err
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := problems(t, path); got != "" {
		t.Errorf("the check reports:\n%s", got)
	}
}
