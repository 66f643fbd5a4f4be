package storage_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.etcd.io/bbolt"

	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// TestOpenRace makes the same store many times at once. Each call opens a whole one, or finds it
// in use.
func TestOpenRace(t *testing.T) {
	path := dbPath(t)
	inParallel(t, 0, 64, func(int) error {
		s, err := storage.Open(path, nil)
		if errors.Is(err, storage.ErrLocked) {
			return nil
		}
		if err == nil {
			_, err = s.CreatePet(t.Context(), petstore.NewPet{}, petstore.IdempotencyKey{})
			err = errors.Join(err, s.Close())
		}
		return err
	})
}

// TestOpenRefuses opens, checks and exports files that are not a store or are damaged. The
// error must say why, and the file must stay as it is.
func TestOpenRefuses(t *testing.T) {
	write := func(content string) func(*testing.T, string) {
		return func(t *testing.T, path string) { process.WriteFile(t, path, []byte(content)) }
	}
	edited := func(fn func(*bbolt.Tx) error) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			makeStore(t, path)
			edit(t, path, fn)
		}
	}
	damaged := func(damage func(file []byte)) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			b := bytes.Clone(small(t).file)
			damage(b)
			process.WriteFile(t, path, b)
		}
	}
	freelist := func(damage func(list []byte)) func(*testing.T, string) {
		return damaged(func(file []byte) { damage(pageOf(file, pagesOf(file, freelistPage)[0])) })
	}
	tests := []struct {
		name string
		make func(t *testing.T, path string)
		is   error
		says string
	}{
		{"empty", write(""), storage.ErrNotPetstore, "empty"},
		{"text", write("hello"), storage.ErrNotPetstore, ""},
		{"another bbolt file", func(t *testing.T, path string) {
			edit(t, path, func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("state")); return err })
		}, storage.ErrNotPetstore, "root"},
		{"a directory", func(t *testing.T, path string) { os.Mkdir(path, 0o700) }, nil, "directory"},
		{"a newer schema", edited(storage.SetSchema), storage.ErrNewer, "version 4"},
		{"a bucket lost", edited(func(tx *bbolt.Tx) error {
			return tx.DeleteBucket([]byte("status/sold"))
		}), storage.ErrDamaged, "status/sold"},
		{"the last pet lost", edited(func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte("pets")).Delete([]byte("\x00\x00\x00\x00\x00\x00\x00\x01"))
		}), storage.ErrDamaged, "pets ends at 0, want 1"},
		{"the state changed", edited(spoilState), storage.ErrDamaged, "checksum"},
		{"cut short", func(t *testing.T, path string) {
			process.WriteFile(t, path, small(t).file[:9*pageSize])
		}, storage.ErrDamaged, "cut short"},
		{"in use", func(t *testing.T, path string) { open(t, path) }, storage.ErrLocked, "in use"},

		// Without either meta page, the last commit may be lost.
		{"a meta page", damaged(func(file []byte) { file[16+50] ^= 1 }), storage.ErrDamaged, "meta page"},
		{"the other meta page", damaged(func(file []byte) { file[pageSize+16+50] ^= 1 }), storage.ErrDamaged, "meta page"},
		{"both meta pages", damaged(func(file []byte) { clear(file[:2*pageSize]) }), storage.ErrNotPetstore, ""},

		{"the flags of the freelist", freelist(func(list []byte) { list[8] ^= 0x20 }), storage.ErrDamaged, "freelist"},
		{"pages after it", freelist(func(list []byte) { list[12] = 1 }), storage.ErrDamaged, "freelist"},
		{"a page twice in it", freelist(func(list []byte) { copy(list[16:24], list[24:32]) }), storage.ErrDamaged, "freelist"},
		{"a meta page in it", freelist(func(list []byte) { clear(list[17:24]); list[16] = 1 }), storage.ErrDamaged, "freelist"},
		{"a page beyond the file", freelist(func(list []byte) { list[12+8*int(list[10])] = 1 }), storage.ErrDamaged, "freelist"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := dbPath(t)
			tt.make(t, path)
			before, _ := os.ReadFile(path)
			s, openErr := storage.Open(path, nil)
			if openErr == nil {
				s.Close()
			}
			for what, err := range map[string]error{"Open": openErr, "Check": storage.Check(path, nil), "Export": storage.Export(path, io.Discard)} {
				if err == nil || tt.is != nil && !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), path) {
					t.Errorf("%s: error %v, want one that is %v, says %q and names the file", what, err, tt.is, tt.says)
				} else if strings.Contains(err.Error(), "\n") {
					t.Errorf("%s: error %q is more than one line", what, err)
				}
			}
			if after, _ := os.ReadFile(path); string(before) != string(after) {
				t.Error("the file was changed")
			}
		})
	}
}

func spoilState(tx *bbolt.Tx) error {
	return tx.Bucket([]byte("petstore")).Put([]byte("state"), make([]byte, 52))
}

// TestStoreGrows lets a file grow until no addresses are left for it, while others read.
// No call waits forever, nothing is lost, and the store grows again once it is opened
// again. Where there are many addresses, there is another limit to the length.
func TestStoreGrows(t *testing.T) {
	path := dbPath(t)
	for range 2 {
		s := open(t, path)
		s.NoSync()
		if strconv.IntSize == 64 {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			s.LowerMaxSize(int(info.Size()) + 24<<20) // bbolt leaves 16 MiB of it unused
		}
		before := countPets(t, s)
		var created atomic.Int64
		within(t, "a call", func() {
			var callers sync.WaitGroup
			for range 4 {
				callers.Go(func() {
					for {
						pet, err := s.CreatePet(t.Context(), petstore.NewPet{Name: strings.Repeat("x", petstore.MaxTextBytes), Status: petstore.StatusSold}, petstore.IdempotencyKey{})
						if err != nil {
							if petstore.CodeOf(err) != petstore.CodeInsufficientStorage || s.Err() != nil {
								t.Errorf("CreatePet returned %v; the store has failed: %v", err, s.Err())
							}
							return
						}
						created.Add(1)
						page, err := s.ListPets(t.Context(), petstore.ListQuery{Status: petstore.StatusSold, After: petstore.CursorAfter(max(1, pet.ID-1))})
						if err != nil || pet.ID > 1 && page.Pets[0] != pet {
							t.Errorf("ListPets returned %.50v, %v", page, err)
						}
					}
				})
			}
			callers.Wait()
		})
		if n := countPets(t, s) - before; n != created.Load() || n == 0 {
			t.Errorf("there are %d more pets, want %d", n, created.Load())
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	mustCheck(t, path)
}
