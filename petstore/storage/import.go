package storage

import (
	"cmp"
	"context"
	"io"
	"os"
	"time"

	"go.etcd.io/bbolt"

	"example.com/animalstore/internal/newfile"
	"example.com/animalstore/petstore/internal/rules"
	"example.com/animalstore/petstore/storage/internal/lines"
)

// maxImport is how many bytes of records an import collects for one transaction: so many
// that the commit hardly matters, and so few that they fit in memory.
const maxImport = 2 << 20

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
func Import(ctx context.Context, path string, r io.Reader) (got Totals, err error) {
	err = newfile.Create(path, func(temp *os.File) error {
		return makeStore(temp, func(db *bbolt.DB) (err error) {
			got, err = importAll(ctx, db, lines.NewReader(r))
			return err
		})
	})
	return got, err
}

// importAll stores all records of r in an empty store.
func importAll(ctx context.Context, db *bbolt.DB, r *lines.Reader) (got Totals, err error) {
	st, now := state{Schema: schema}, time.Now().UnixMicro()
	// The last transaction has no records, so both meta pages lead to all of them.
	for size := 1; size > 0 && err == nil; {
		err = db.Update(func(bolt *bbolt.Tx) error {
			tx := writeTx{Tx: bolt, state: st}
			tableIn(bolt, &outcomeTable).FillPercent = 0.9 // the keys ascend
			for size = 0; size < maxImport; size += 200 {  // for what a record has beside its text
				rec, err := r.Next()
				if err == io.EOF {
					break
				}
				err = cmp.Or(err, ctx.Err())
				switch m, o := rec.Message, rec.Outcome; {
				case err != nil:
				case rec.Pet != nil:
					size += len(rec.Pet.Name)
					err = tx.addPet(*rec.Pet)
				case m != nil:
					size += len(m.Text)
					n, _ := rules.ParseMessageID(m.ID)
					err = tx.addMessage(n, m.CreatedAt.UnixMicro(), m.Text)
				case o == nil:
					tx.LastPet, tx.LastMessage = rec.End.LastPet, rec.End.LastMessage
				case !o.Expired(now):
					got.Outcomes++
					err = tx.addOutcome(o)
				}
				if err != nil {
					return err
				}
			}
			st = tx.state
			return tx.store()
		})
	}
	got.Pets, got.Messages = st.Pets, st.Queued
	return got, err
}
