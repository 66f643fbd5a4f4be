package storage

import (
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

func init() {
	lockTimeout = 10 * time.Millisecond
	if runtime.GOOS != "windows" {
		mapAhead = func() int64 { return 1 << 20 } // so that more has to be mapped as files grow
	}
}

// SetSchema makes the file one of that schema version.
func SetSchema(t *testing.T, path string, version int64) {
	t.Helper()
	inFile(t, path, (*bbolt.DB).Update, func(tx *bbolt.Tx) error {
		b := tx.Bucket(stateTable.name)
		s, err := openState(b.Get(stateKey))
		s.Schema = version
		return errors.Join(err, s.store(b))
	})
}

// Leaves returns the leaves of each bucket in the file at path, in the order of
// their keys. It returns those of the tree of buckets under "", and the page of
// the freelist under "freelist".
func Leaves(t *testing.T, path string) map[string][]uint64 {
	t.Helper()
	leaves := map[string][]uint64{}
	inFile(t, path, (*bbolt.DB).View, func(tx *bbolt.Tx) error {
		file, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		meta := file[tx.ID()%2*os.Getpagesize():]
		leaves["freelist"] = []uint64{binary.NativeEndian.Uint64(meta[48:])}
		leaves[""] = leavesUnder(file, uint64(tx.Cursor().Bucket().Root()))
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			if root := uint64(b.Root()); root != 0 {
				leaves[string(name)] = leavesUnder(file, root)
			}
			return nil
		})
	})
	return leaves
}

func leavesUnder(file []byte, id uint64) []uint64 {
	p := file[id*uint64(os.Getpagesize()):]
	if binary.NativeEndian.Uint16(p[8:])&0x01 == 0 { // not a branch
		return []uint64{id}
	}
	var leaves []uint64
	for i := range binary.NativeEndian.Uint16(p[10:]) {
		leaves = append(leaves, leavesUnder(file, binary.NativeEndian.Uint64(p[16+16*int(i)+8:]))...)
	}
	return leaves
}

// inFile runs fn in a transaction that begin makes.
func inFile(t *testing.T, path string, begin func(*bbolt.DB, func(*bbolt.Tx) error) error, fn func(*bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := begin(db, fn); err != nil {
		t.Fatal(err)
	}
}
