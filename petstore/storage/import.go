package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"example.com/animalstore/petstore"
)

// What Load puts into one transaction: so much that the sync hardly matters,
// and so little that it fits in memory.
const (
	maxLoad      = 50_000
	maxLoadBytes = 8 << 20
)

// Load adds many pets, in few large transactions, and returns how many it has
// added. Their IDs ascend in the order of the sequence. If Load fails, the pets
// of the transactions before are added.
//
// The store may be used meanwhile. Errors: those of CreatePet, for the first
// pet that is refused; the pets before it are added.
func (s *Store) Load(ctx context.Context, pets iter.Seq[petstore.NewPet]) (loaded int64, err error) {
	b := batch{ctx: ctx, s: s}
	for p := range pets {
		if err = b.addPet(p); err != nil {
			break
		}
	}
	err = cmp.Or(b.flush(), err)
	return b.made, err
}

// batch collects changes for large transactions.
type batch struct {
	ctx     context.Context
	s       *Store
	waiting []func(*update) error
	size    int   // of those waiting, in bytes
	made    int64 // changes that were committed
}

func (b *batch) addPet(p petstore.NewPet) error {
	encoded, err := encodePet(p)
	if err != nil {
		return err
	}
	return b.add(len(encoded), func(u *update) error {
		_, err := u.createPet(p.Status, encoded)
		return err
	})
}

// add adds a change that writes about size bytes. It makes the changes before it if
// they are enough for a transaction.
func (b *batch) add(size int, change func(*update) error) error {
	if len(b.waiting) == maxLoad || b.size+size > maxLoadBytes {
		if err := b.flush(); err != nil {
			return err
		}
	}
	b.waiting = append(b.waiting, change)
	b.size += size
	return nil
}

// flush makes the changes that wait, in one transaction. If it fails, they are dropped.
func (b *batch) flush() error {
	if len(b.waiting) == 0 {
		return nil
	}
	err := b.s.change(b.ctx, b.size, func(u *update) error {
		for _, change := range b.waiting {
			if err := change(u); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		b.made += int64(len(b.waiting))
	}
	b.waiting, b.size = nil, 0
	return err
}

// ErrIDs reports that an import cannot keep the IDs. With NewIDs it assigns new ones.
var ErrIDs = errors.New("the IDs cannot be kept")

// ImportOptions are the settings of [Import]. The zero value and nil are ready for
// use.
type ImportOptions struct {
	// NewIDs gives the pets the IDs 1, 2, 3 and so on, in the order of their lines,
	// and the next free number to a message whose own does not ascend. The lines need
	// no IDs, and the last line of the export may be missing. false: the pets must have
	// these IDs, and the numbers of messages must ascend.
	NewIDs bool
}

// Import makes a store at path of what [Export] wrote, whole or not at all. It returns
// how many pets and messages it holds.
//
// It needs little memory for any number of pets. The error names the line, or wraps
// [ErrIDs], or fs.ErrExist if there is a file.
func Import(ctx context.Context, path string, r io.Reader, o *ImportOptions) (pets, messages int64, err error) {
	i := &importer{}
	if o != nil {
		i.ImportOptions = *o
	}
	err = createFile(path, nil, func(temp *os.File) error {
		if err := writeEmpty(temp); err != nil {
			return err
		}
		s, err := open(temp.Name(), (*Options)(nil).filled(), false)
		if err != nil {
			return err
		}
		s.db.NoSync = true // until createFile syncs the whole file
		i.batch = batch{ctx: ctx, s: s}
		return errors.Join(i.run(r), s.Close())
	})
	if err != nil {
		return 0, 0, err
	}
	return i.pets, i.messages, nil
}

// importer is an import under way.
type importer struct {
	ImportOptions
	batch
	pets, messages int64 // read
	lastMessage    int64 // the highest number read
}

func (i *importer) run(r io.Reader) error {
	ended := false
	err := ReadExport(r, func(rec Record) error {
		ended = ended || rec.End != nil
		return i.record(rec)
	})
	if err == nil && !ended && !i.NewIDs {
		err = errors.New("the export was cut short: its last line is missing")
	}
	if err != nil {
		return err
	}
	return i.flush()
}

// record adds a pet or a message.
func (i *importer) record(rec Record) error {
	switch p, m := rec.Pet, rec.Message; {
	case p != nil:
		i.pets++
		if !i.NewIDs && p.ID == 0 {
			return fmt.Errorf("line %d: %w: the pet has no ID", rec.Line, ErrIDs)
		}
		if !i.NewIDs && p.ID != i.pets {
			return fmt.Errorf("line %d: %w: the pet has the ID %d, want %d", rec.Line, ErrIDs, p.ID, i.pets)
		}
		return i.addPet(p.NewPet)
	case m != nil:
		i.messages++
		n, _ := petstore.ParseMessageID(m.ID)
		if n <= i.lastMessage {
			if !i.NewIDs {
				return fmt.Errorf("line %d: %w: the message has the ID %q and follows number %d", rec.Line, ErrIDs, m.ID, i.lastMessage)
			}
			n = i.lastMessage + 1
		}
		i.lastMessage = n
		return i.add(len(m.Text), func(u *update) error { return u.addMessage(n, m.CreatedAt.UnixNano(), m.Text) })
	}
	return i.add(0, func(u *update) error {
		u.LastMessage = max(u.LastMessage, rec.End.LastMessage)
		return nil
	})
}
