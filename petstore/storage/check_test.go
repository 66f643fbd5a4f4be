package storage_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
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
		{func(tx *bbolt.Tx) error { // a record of another table with the same key
			k, v := tx.Bucket([]byte("status/available")).Cursor().First()
			return tx.Bucket([]byte("pets")).Put(k, v)
		}, "the block of pets from the pet 1 on fails its checksum"},
		{func(tx *bbolt.Tx) error { // a record of the same table with another key
			c := tx.Bucket([]byte("queue")).Cursor()
			_, v := c.First()
			k, _ := c.Next()
			return tx.Bucket([]byte("queue")).Put(k, v)
		}, "the message 2 fails its checksum"},
		{func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("queue")) }, "the bucket queue is missing"},
	} {
		path := dbPath(t)
		process.WriteFile(t, path, small(t).file)
		edit(t, path, tt.edit)
		if err := storage.Check(path, nil); !errors.Is(err, storage.ErrDamaged) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("the check returned %v, want %q", err, tt.says)
		}
	}
}

// TestCheckAll: a check names all damage, not only the first.
func TestCheckAll(t *testing.T) {
	path := dbPath(t)
	process.WriteFile(t, path, spoil(t, spoil(t, small(t).file, "message 7"), `"pet 100"`))
	edit(t, path, func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte("status/sold")).Cursor()
		c.First()
		return c.Delete()
	})
	var got strings.Builder
	if err := storage.Check(path, func(err error) { fmt.Fprintln(&got, err) }); !errors.Is(err, storage.ErrDamaged) {
		t.Errorf("the check returned %v", err)
	}
	for _, want := range []string{"the block of pets from", "the block of status/available from", "status/sold has a gap after 0", "the message 8 fails"} {
		if strings.Count(got.String(), want) != 1 {
			t.Errorf("the check reported\n%swant %q once", &got, want)
		}
	}
	if strings.Count(got.String(), "\n") != 4 {
		t.Errorf("the check reported\n%swant four lines", &got)
	}
}

// TestCheckFlags makes a bucket of a record in each leaf page, and a record of a bucket.
func TestCheckFlags(t *testing.T) {
	for _, leaf := range pagesOf(small(t).file, leafPage) {
		path, file := dbPath(t), bytes.Clone(small(t).file)
		pageOf(file, leaf)[16] ^= 1
		process.WriteFile(t, path, file)
		if err := storage.Check(path, nil); !errors.Is(err, storage.ErrDamaged) {
			t.Errorf("page %d: the check returned %v", leaf, err)
		}
	}
}

// TestCheckLookups flips each bit of the last byte of each key in the branch pages, which
// leads lookups to another page. A check reports it if a pet is not found.
func TestCheckLookups(t *testing.T) {
	d, found := small(t), 0
	for _, branch := range pagesOf(d.file, branchPage) {
		for n := range int(binary.NativeEndian.Uint16(pageOf(d.file, branch)[10:])) {
			for bit := range 8 {
				file := bytes.Clone(d.file)
				element := pageOf(file, branch)[16+16*n:]
				last := binary.NativeEndian.Uint32(element) + binary.NativeEndian.Uint32(element[4:]) - 1
				element[last] ^= 1 << bit
				path := dbPath(t)
				process.WriteFile(t, path, file)
				if errors.Is(storage.Check(path, nil), storage.ErrDamaged) {
					found++
					continue
				}
				s := open(t, path)
				for _, pet := range d.pets {
					if _, err := s.GetPet(t.Context(), pet.ID); err != nil {
						t.Errorf("page %d, key %d, bit %d: the check found nothing, the store %v", branch, n, bit, err)
					}
				}
				s.Close()
			}
		}
	}
	if found == 0 {
		t.Error("the check found nothing")
	}
}
