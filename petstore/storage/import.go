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
	i := &importer{ctx: ctx}
	err := createFile(path, func(temp *os.File) error {
		if err := writeEmpty(temp); err != nil {
			return err
		}
		s, err := open(temp.Name(), (*Options)(nil).filled())
		if err != nil {
			return err
		}
		s.db.NoSync = true // until createFile syncs the whole file
		i.s = s
		return errors.Join(i.run(ReadExport(r, opts)), s.Close())
	})
	if err != nil {
		return Totals{}, err
	}
	return i.totals, nil
}

// importer is an import under way.
type importer struct {
	ctx    context.Context
	s      *Store
	totals Totals

	waiting []func(*transaction) error
	size    int // of those waiting, in bytes
}

func (i *importer) run(export iter.Seq2[ExportRecord, error]) error {
	for rec, err := range export {
		if err == nil {
			err = i.record(rec)
		}
		if err != nil {
			return err
		}
	}
	return i.flush()
}

func (i *importer) record(rec ExportRecord) error {
	switch p, m := rec.Pet, rec.Message; {
	case p != nil:
		i.totals.Pets++
		return i.add(len(p.Name), func(tx *transaction) error {
			_, err := tx.createPet(p.NewPet)
			return err
		})
	case m != nil:
		i.totals.Messages++
		n, _ := stores.ParseMessageID(m.ID)
		return i.add(len(m.Text), func(tx *transaction) error { return tx.addMessage(n, m.CreatedAt.UnixNano(), m.Text) })
	}
	return i.add(0, func(tx *transaction) error {
		tx.LastMessage = max(tx.LastMessage, rec.End.LastMessage)
		return nil
	})
}

// add adds a change, which writes a name or a text of size bytes. It makes the changes
// before it if they are enough for a transaction.
func (i *importer) add(size int, change func(*transaction) error) error {
	size += 200 // for the rest of the record and the change itself
	if i.size+size > maxImport {
		if err := i.flush(); err != nil {
			return err
		}
	}
	i.waiting = append(i.waiting, change)
	i.size += size
	return nil
}

// flush makes the changes that wait, in one transaction.
func (i *importer) flush() error {
	err := i.s.change(i.ctx, func(tx *transaction) error {
		for _, change := range i.waiting {
			if err := change(tx); err != nil {
				return err
			}
		}
		return nil
	})
	i.waiting, i.size = nil, 0
	return err
}
