package storage_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// makeStore makes a store with one pet and closes it.
func makeStore(t *testing.T, path string) {
	t.Helper()
	s := open(t, path)
	createPets(t, s, 1, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, path string) *storage.Store {
	t.Helper()
	s, err := storage.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestOpenMakes makes a file and its folders, unless it must exist.
func TestOpenMakes(t *testing.T) {
	top := filepath.Join(t.TempDir(), "a")
	dir := filepath.Join(top, "b")
	path := filepath.Join(dir, "pets.db")
	if _, err := storage.Open(path, &storage.Options{MustExist: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open of a file that must exist: %v", err)
	}
	if _, err := os.Stat(top); err == nil {
		t.Error("Open made a folder")
	}
	for _, want := range []storage.Info{{Path: path, New: true, Schema: 1}, {Path: path, Pets: 1, Schema: 1}} {
		s := open(t, path)
		if got := s.Info(); got != want {
			t.Errorf("Info returned %+v, want %+v", got, want)
		}
		createPets(t, s, 1, want.Pets+1)
		s.Close()
	}
	for name, want := range map[string]fs.FileMode{path: 0o600, dir: 0o700, top: 0o700} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); runtime.GOOS != "windows" && got != want {
			t.Errorf("%s has the mode %v, want %v", name, got, want)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("making a store left %v (%v)", entries, err)
	}
}

// TestOpenRace makes the same store many times at once. One call opens it, and
// none sees half of it.
func TestOpenRace(t *testing.T) {
	for range 20 {
		path := filepath.Join(t.TempDir(), "pets.db")
		results := make(chan error)
		for range 8 {
			go func() {
				s, err := storage.Open(path, nil)
				if err == nil {
					_, err = s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{})
					time.Sleep(5 * time.Millisecond)
					err = errors.Join(err, s.Close())
				} else if errors.Is(err, storage.ErrLocked) {
					err = nil
				}
				results <- err
			}()
		}
		for range 8 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
	}
}

// edit changes the store's file with bbolt, without a Store.
func edit(t *testing.T, path string, fn func(*bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(fn), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestOpenRefuses opens files that are not a store. The error must say why, and
// the file must stay as it is.
func TestOpenRefuses(t *testing.T) {
	write := func(content string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			t.Helper()
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := []struct {
		name string
		make func(t *testing.T, path string)
		is   error
		says string
	}{
		{"empty", write(""), nil, "empty"},
		{"text", write("hello"), storage.ErrForeign, ""},
		{"long text", write(strings.Repeat("hello ", 10000)), storage.ErrForeign, ""},
		{"zeros", write(strings.Repeat("\x00", 65536)), storage.ErrForeign, ""},
		{"another bbolt file", func(t *testing.T, path string) {
			edit(t, path, func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("state")); return err })
		}, storage.ErrForeign, ""},
		{"an empty bbolt file", func(t *testing.T, path string) {
			edit(t, path, func(*bbolt.Tx) error { return nil })
		}, storage.ErrForeign, ""},
		{"another bbolt file without a freelist", func(t *testing.T, path string) {
			db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoFreelistSync: true})
			if err != nil {
				t.Fatal(err)
			}
			db.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("x")); return err })
			db.Close()
		}, storage.ErrForeign, ""},
		{"a newer schema", func(t *testing.T, path string) {
			makeStore(t, path)
			edit(t, path, storage.SetSchema)
		}, storage.ErrNewer, "version 2"},
		{"a directory", func(t *testing.T, path string) { os.Mkdir(path, 0o700) }, nil, "directory"},
		{"a bucket lost", func(t *testing.T, path string) {
			makeStore(t, path)
			edit(t, path, func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("queue")) })
		}, storage.ErrDamaged, "queue"},
		{"the last pet lost", func(t *testing.T, path string) {
			makeStore(t, path)
			edit(t, path, func(tx *bbolt.Tx) error {
				return tx.Bucket([]byte("pets")).Delete([]byte("\x00\x00\x00\x00\x00\x00\x00\x01"))
			})
		}, storage.ErrDamaged, "pets ends at 0, want 1"},
		{"the counters changed", func(t *testing.T, path string) {
			makeStore(t, path)
			edit(t, path, func(tx *bbolt.Tx) error {
				return tx.Bucket([]byte("petstore")).Put([]byte("state"), make([]byte, 52))
			})
		}, storage.ErrDamaged, "checksum"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "pets.db")
			tt.make(t, path)
			before, _ := os.ReadFile(path)
			s, err := storage.Open(path, nil)
			if err == nil {
				s.Close()
				t.Fatal("opened")
			}
			if tt.is != nil && !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %q, want one that is %v, says %q and names the file", err, tt.is, tt.says)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q is more than one line", err)
			}
			if after, _ := os.ReadFile(path); string(before) != string(after) {
				t.Error("the file was changed")
			}
		})
	}
}

// TestOpenBusy repeatedly opens a file that a store has open and writes to. The
// error must be that the file is in use, never that it is damaged.
func TestOpenBusy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pets.db")
	s := open(t, path)
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := s.CreatePet(t.Context(), petstore.NewPet{Name: "Rex"}, petstore.Once{}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 300 {
		if _, err := storage.Open(path, nil); !errors.Is(err, storage.ErrLocked) {
			t.Errorf("opening a file in use: %v", err)
			break
		}
	}
	close(stop)
	writers.Wait()
}
