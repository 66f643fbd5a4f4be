package storage

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"

	"example.com/animalstore/internal/newfile"
	"example.com/animalstore/petstore/internal/stores"
	"example.com/animalstore/petstore/storage/internal/lines"
)

// maxImport is how many bytes of records an import collects for one transaction: so many
// that the commit hardly matters, and so few that they fit in memory.
const maxImport = 8 << 20

// ErrMalformed says that what an import has read is not a whole and unchanged export.
var ErrMalformed = lines.ErrMalformed

// Import makes a store at path of what [Export] wrote, whole or not at all. It returns
// how many records it holds. r may be compressed with gzip. All IDs are kept, and the store
// issues none up to the highest one that the export names. Outcomes of idempotency keys that
// have expired are left out.
//
// It needs little memory for any number of pets. The error wraps [ErrMalformed] and names
// the line, or wraps fs.ErrExist if there is a file.
func Import(ctx context.Context, path string, r io.Reader) (Totals, error) {
	var totals Totals
	err := newfile.Create(path, func(temp *os.File) error {
		if err := writeEmpty(temp); err != nil {
			return err
		}
		s, err := open(temp.Name(), (*Options)(nil).filled())
		if err != nil {
			return err
		}
		s.db.NoSync = true // until newfile.Create syncs the whole file
		totals, err = s.importAll(ctx, lines.Read(r))
		return errors.Join(err, s.Close())
	})
	if err != nil {
		return Totals{}, err
	}
	return totals, nil
}

// importAll stores the records, as many in one transaction as it can keep in memory.
func (s *Store) importAll(ctx context.Context, records iter.Seq2[lines.Record, error]) (totals Totals, err error) {
	var batch []lines.Record
	size := 0
	store := func() error {
		defer func() { batch, size = batch[:0], 0 }()
		return s.change(ctx, func(tx *update) error {
			tx.table(&outcomeTable).FillPercent = 0.9 // the keys ascend
			for _, rec := range batch {
				if err := tx.addRecord(rec, &totals); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for rec, err := range records {
		if err != nil {
			return totals, err
		}
		size += 200 // for what a record has beside its text
		switch {
		case rec.Pet != nil:
			size += len(rec.Pet.Name)
		case rec.Message != nil:
			size += len(rec.Message.Text)
		}
		if batch = append(batch, rec); size >= maxImport {
			if err := store(); err != nil {
				return totals, err
			}
		}
	}
	return totals, store()
}

// addRecord adds a record, which is valid, and counts it.
func (tx *update) addRecord(rec lines.Record, totals *Totals) error {
	switch {
	case rec.Pet != nil:
		totals.Pets++
		return tx.addPet(*rec.Pet)
	case rec.Message != nil:
		totals.Messages++
		n, _ := stores.ParseMessageID(rec.Message.ID)
		return tx.addMessage(n, rec.Message.CreatedAt.UnixMicro(), rec.Message.Text)
	case rec.Outcome != nil:
		o := outcome{rec.Outcome.Created.UnixMicro(), rec.Outcome.Pet, rec.Outcome.Message, rec.Outcome.Value}
		if o.expired(tx.now) {
			return nil
		}
		totals.Outcomes++
		return tx.addOutcome(rec.Outcome.Key[:], o)
	}
	tx.LastPet, tx.LastMessage = rec.End.LastPet, rec.End.LastMessage
	return nil
}
