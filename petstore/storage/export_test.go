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
