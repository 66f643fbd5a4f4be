package storage

import (
	"testing"

	"go.etcd.io/bbolt"
)

// SetSchema makes the file one of that schema version.
func SetSchema(t *testing.T, path string, version int64) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(metaTable.name).Put(schemaKey, metaTable.seal(schemaKey, appendInt64(nil, version)))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Leaves returns the leaves of each bucket in the file at path, in the order of
// their keys. It returns those of the tree of buckets under "", and the page of
// the freelist under "freelist".
func Leaves(t *testing.T, path string) map[string][]uint64 {
	t.Helper()
	s, err := openScanner(path, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	leaves := map[string][]uint64{"freelist": {s.meta.freelist}}
	for name, root := range s.roots {
		if root.inline == nil {
			leaves[name] = leavesUnder(t, s, root.id)
		}
	}
	leaves[""] = leavesUnder(t, s, s.meta.root)
	return leaves
}

func leavesUnder(t *testing.T, s *scanner, root uint64) []uint64 {
	t.Helper()
	p := &pages{f: s.f, meta: s.meta, used: make([]uint64, s.meta.pages/64+1)}
	ids, err := p.tree(root)
	if err != nil {
		t.Fatal(err)
	}
	return ids
}
