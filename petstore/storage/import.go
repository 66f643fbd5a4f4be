package storage

import (
	"cmp"
	"context"
	"io"
	"os"
	"time"

	"go.etcd.io/bbolt"

	"example.com/animalstore/internal/files"
	"example.com/animalstore/petstore/internal/rules"
	"example.com/animalstore/petstore/storage/internal/lines"
)

// maxImport is how many bytes of an export one transaction stores: so many that the commit
// hardly matters, and so few that they fit in memory.
const maxImport = 3 << 20

// ErrMalformed says that what an import has read is not a whole and unchanged export.
var ErrMalformed = lines.ErrMalformed

// Import makes a store at path of what [Export] wrote, whole or not at all, and returns how
// many records the store holds. r may be compressed with gzip. All IDs are kept, and the store
// issues none up to the highest one that the export names. Outcomes of idempotency keys that
// have expired are left out.
//
// It needs little memory for any number of pets. The error wraps [ErrMalformed] and names
// the line, wraps fs.ErrExist if there is a file, or is of ctx or of a write. Until the store
// is on disk, the name of its file ends in .part; a process that is killed leaves that.
func Import(ctx context.Context, path string, r io.Reader) (Totals, error) {
	records := lines.NewReader(r)
	return makeStore(path, func() (lines.Record, error) {
		rec, err := records.Next()
		return rec, cmp.Or(err, ctx.Err())
	})
}

// makeStore makes a store at path of the records that next returns, which are valid, until io.EOF.
func makeStore(path string, next func() (lines.Record, error)) (got Totals, err error) {
	err = files.Create(path, func(temp *os.File) error { // which syncs the file afterwards
		db, err := bbolt.Open(temp.Name(), 0, &bbolt.Options{NoStatistics: true, NoSync: true})
		if err != nil {
			return err
		}
		st, now := state{Schema: schema}, time.Now().UnixMicro()
		// The last transaction has no records, so both meta pages lead to all of them.
		for size := 1; size > 0 && err == nil; {
			err = db.Update(func(bolt *bbolt.Tx) error {
				for _, t := range tables {
					if _, err := bolt.CreateBucketIfNotExists(t.name); err != nil {
						return err
					}
				}
				tableIn(bolt, &outcomeTable).FillPercent = 0.9 // the keys ascend
				tx := writeTx{Tx: bolt, state: st, now: now}
				for size = 0; size < maxImport; {
					rec, err := next()
					if err == io.EOF {
						break
					}
					if err == nil {
						err = tx.add(rec)
					}
					if err != nil {
						return err
					}
					size += rec.Size
				}
				got.Outcomes += int64(len(tx.outcomes))
				st = tx.state
				return tx.store()
			})
		}
		got.Pets, got.Messages = st.Pets, st.Queued
		return cmp.Or(err, db.Close())
	})
	return got, err
}

// add adds a record, unless it is an outcome that has expired.
func (tx *writeTx) add(rec lines.Record) error {
	switch m, o := rec.Message, rec.Outcome; {
	case rec.Pet != nil:
		return tx.addPet(*rec.Pet)
	case m != nil:
		n, _ := rules.ParseMessageID(m.ID)
		return tx.addMessage(n, m.CreatedAt.UnixMicro(), m.Text)
	case o == nil:
		tx.LastPet, tx.LastMessage = rec.End.LastPet, rec.End.LastMessage
	case !o.Expired(tx.now):
		return tx.addOutcome(o)
	}
	return nil
}
