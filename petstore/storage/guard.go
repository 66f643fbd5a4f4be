package storage

import (
	"go.etcd.io/bbolt"

	"example.com/animalstore/petstore/storage/internal/boltfile"
)

// guard checks the pages that a transaction is about to change. Opening a file
// checks only a few of its leaves, and any page can be damaged later.
type guard struct{ *boltfile.Guard }

// begin checks what every transaction changes: the counters, and the tree of
// buckets.
func (g guard) begin(tx *bbolt.Tx) error {
	g.Reset(tx.Size())
	root := tx.Cursor().Bucket()
	for _, t := range tables() {
		if err := g.path(root, t.name, false); err != nil {
			return err
		}
	}
	b, err := stateTable.bucket(tx)
	if err != nil {
		return err
	}
	return g.path(b, stateKey, false)
}

// path checks the pages from the root of a bucket to where a key is or belongs.
// See [boltfile.Guard.Check] for beside.
func (g guard) path(b *bbolt.Bucket, key []byte, beside bool) error {
	return g.Check(uint64(b.Root()), key, beside)
}
