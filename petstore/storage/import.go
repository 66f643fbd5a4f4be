package storage

import (
	"cmp"
	"context"
	"io"
	"iter"
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
func Import(ctx context.Context, path string, r io.Reader) (Totals, error) {
	im := importer{state: state{Schema: schema}}
	err := newfile.Create(path, func(temp *os.File) error {
		return makeStore(temp, func(db *bbolt.DB) error {
			im.db = db
			if err := im.all(ctx, lines.Read(r)); err != nil {
				return err
			}
			return db.Update(func(*bbolt.Tx) error { return nil }) // so that both meta pages lead to all of it
		})
	})
	if err != nil {
		return Totals{}, err
	}
	return Totals{im.state.Pets, im.state.Queued, im.outcomes}, nil
}

// importer is an import under way.
type importer struct {
	db       *bbolt.DB
	state    state
	outcomes int64 // how many were stored
	batch    []lines.Record
	size     int // of the batch
}

// all stores the records, as many in one transaction as it can keep in memory.
func (im *importer) all(ctx context.Context, records iter.Seq2[lines.Record, error]) error {
	now := time.Now().UnixMicro()
	for rec, err := range records {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		im.size += 200 // for what a record has beside its text
		switch {
		case rec.Pet != nil:
			im.size += len(rec.Pet.Name)
		case rec.Message != nil:
			im.size += len(rec.Message.Text)
		case rec.Outcome != nil:
			if o := (outcome{Made: rec.Outcome.Created.UnixMicro()}); o.expired(now) {
				continue
			}
			im.outcomes++
		}
		if im.batch = append(im.batch, rec); im.size >= maxImport {
			if err := im.db.Update(im.commit); err != nil {
				return err
			}
		}
	}
	return im.db.Update(im.commit)
}

// commit stores the batch.
func (im *importer) commit(bolt *bbolt.Tx) error {
	tx := writeTx{Tx: bolt, state: im.state}
	err := tx.addRecords(im.batch)
	if err == nil {
		err = tx.store()
	}
	im.state, im.batch, im.size = tx.state, im.batch[:0], 0
	return err
}

// addRecords adds records, which are valid.
func (tx *writeTx) addRecords(records []lines.Record) (err error) {
	tableIn(tx.Tx, &outcomeTable).FillPercent = 0.9 // the keys ascend
	for _, rec := range records {
		switch m, o := rec.Message, rec.Outcome; {
		case rec.Pet != nil:
			err = tx.addPet(*rec.Pet)
		case m != nil:
			n, _ := rules.ParseMessageID(m.ID)
			err = tx.addMessage(n, m.CreatedAt.UnixMicro(), m.Text)
		case o != nil:
			err = tx.addOutcome(o.Key[:], outcome{o.Created.UnixMicro(), o.Pet, o.Message, o.Value})
		default:
			tx.LastPet, tx.LastMessage = rec.End.LastPet, rec.End.LastMessage
		}
		if err != nil {
			return err
		}
	}
	return nil
}
