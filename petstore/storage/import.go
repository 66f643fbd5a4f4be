package storage

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"

	"example.com/animalstore/internal/newfile"
	"example.com/animalstore/petstore/internal/stores"
)

// maxImport is how many bytes of records an import collects for one transaction: so many
// that the commit hardly matters, and so few that they fit in memory.
const maxImport = 8 << 20

// ErrIDs is an error of [Import] and [ReadExport].
var ErrIDs = errors.New("the IDs cannot be kept")

// ImportOptions are the settings of [Import] and [ReadExport]. The zero value and nil are
// ready for use.
type ImportOptions struct {
	// NewIDs gives the pets the IDs 1, 2, 3 and so on, in the order of their lines. A
	// message whose number does not ascend gets the next free number. The lines need no
	// IDs, and the last line of the export may be missing.
	// false: the pets must have these IDs, and the numbers of messages must ascend.
	NewIDs bool
}

// Import makes a store at path of what [Export] wrote, whole or not at all. It returns
// how many pets and messages it holds. opts may be nil.
//
// It needs little memory for any number of pets. The error names the line, or wraps
// fs.ErrExist if there is a file. It wraps [ErrIDs] if the IDs cannot be kept.
func Import(ctx context.Context, path string, r io.Reader, opts *ImportOptions) (Totals, error) {
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
		totals, err = s.importAll(ctx, ReadExport(r, opts))
		return errors.Join(err, s.Close())
	})
	if err != nil {
		return Totals{}, err
	}
	return totals, nil
}

// importAll stores the records, as many in one transaction as it can keep in memory.
func (s *Store) importAll(ctx context.Context, records iter.Seq2[ExportRecord, error]) (totals Totals, err error) {
	var batch []ExportRecord
	size := 0
	store := func() error {
		defer func() { batch, size = batch[:0], 0 }()
		return s.change(ctx, func(tx *update) error { return tx.addRecords(batch) })
	}
	for rec, err := range records {
		if err != nil {
			return totals, err
		}
		size += 200 // for what a record has beside its text
		switch {
		case rec.Pet != nil:
			totals.Pets++
			size += len(rec.Pet.Name)
		case rec.Message != nil:
			totals.Messages++
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

// addRecords adds records, which are valid.
func (tx *update) addRecords(records []ExportRecord) (err error) {
	for _, rec := range records {
		switch m := rec.Message; {
		case rec.Pet != nil:
			_, err = tx.createPet(rec.Pet.NewPet)
		case m != nil:
			n, _ := stores.ParseMessageID(m.ID)
			err = tx.addMessage(n, m.CreatedAt.UnixNano(), m.Text)
		default:
			tx.LastMessage = max(tx.LastMessage, rec.End.LastMessage)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
