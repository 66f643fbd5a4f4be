package storage

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"

	"example.com/animalstore/petstore/internal/stores"
)

// maxImport is how many bytes an import puts into one transaction: so many that the sync
// hardly matters, and so few that they fit in memory.
const maxImport = 8 << 20

// Errors of [Import] and [ReadExport].
var (
	ErrIDs     = errors.New("the IDs cannot be kept")
	ErrTooLong = errors.New("too long") // see ImportOptions.MaxText
)

// ImportOptions are the settings of [Import] and [ReadExport]. The zero value and nil are
// ready for use.
type ImportOptions struct {
	// NewIDs gives the pets the IDs 1, 2, 3 and so on, in the order of their lines. A
	// message whose number does not ascend gets the next free number. The lines need no
	// IDs, and the last line of the export may be missing.
	// false: the pets must have these IDs, and the numbers of messages must ascend.
	NewIDs bool

	// MaxText is how many bytes a name or the text of a message may have, at most
	// 256 MiB. 0 or less: DefaultMaxText.
	MaxText int
}

// Import makes a store at path of what [Export] wrote, whole or not at all. It returns
// how many pets and messages it holds. opts may be nil.
//
// It needs little memory for any number of pets. The error names the line, or wraps
// fs.ErrExist if there is a file. It wraps [ErrIDs] if the IDs cannot be kept, and
// [ErrTooLong] for a name or text above the limit.
func Import(ctx context.Context, path string, r io.Reader, opts *ImportOptions) (Totals, error) {
	var totals Totals
	err := createFile(path, func(temp *os.File) error {
		if err := writeEmpty(temp); err != nil {
			return err
		}
		s, err := open(temp.Name(), (*Options)(nil).filled())
		if err != nil {
			return err
		}
		s.db.NoSync = true // until createFile syncs the whole file
		next, stop := iter.Pull2(ReadExport(r, opts))
		defer stop()
		for more := true; more && err == nil; {
			err = s.change(ctx, func(tx *transaction) (err error) {
				more, err = tx.addRecords(next, &totals)
				return err
			})
		}
		return errors.Join(err, s.Close())
	})
	if err != nil {
		return Totals{}, err
	}
	return totals, nil
}

// addRecords adds records of an export, as many as an import puts into one transaction,
// and counts them. It reports whether there may be more.
func (tx *transaction) addRecords(next func() (ExportRecord, error, bool), totals *Totals) (bool, error) {
	for size := 0; size < maxImport; size += 200 { // for what a record has besides its text
		rec, err, ok := next()
		if err != nil || !ok {
			return false, err
		}
		switch p, m := rec.Pet, rec.Message; {
		case p != nil:
			totals.Pets++
			size += len(p.Name)
			_, err = tx.createPet(p.NewPet)
		case m != nil:
			totals.Messages++
			size += len(m.Text)
			n, _ := stores.ParseMessageID(m.ID)
			err = tx.addMessage(n, m.CreatedAt.UnixNano(), m.Text)
		default:
			tx.LastMessage = max(tx.LastMessage, rec.End.LastMessage)
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}
