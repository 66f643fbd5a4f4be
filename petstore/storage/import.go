package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"example.com/animalstore/petstore"
)

// ErrIDs reports that an import cannot keep the IDs. With NewIDs it assigns new ones.
var ErrIDs = errors.New("the IDs cannot be kept")

var errDryRun = errors.New("dry run")

// ImportOptions are the settings of [Import]. The zero value and nil are ready for
// use.
type ImportOptions struct {
	// NewIDs gives the pets and messages the next free IDs, in the order of their
	// lines. If the store has never held a message, messages whose IDs ascend keep
	// them. The lines need no IDs, and the last line of the export may be missing.
	// false: all keep their IDs. Then the store must never have held anything, and
	// the IDs of the pets must be 1, 2, 3 and so on.
	NewIDs bool

	// DryRun makes Import do everything except put the file in its place.
	DryRun bool

	// Progress is called after each pet, with the number of pets that were read.
	// nil: it is not called.
	Progress func(pets int64)
}

// Import adds what [Export] wrote to the store at path, all of it or nothing. It
// adds to a copy of the store, or to a new one if there is none, and then puts the
// result in place. It returns how many pets and messages it added.
//
// It needs little memory for any number of pets. No store can be opened on the
// file meanwhile. The error names the line, or wraps [ErrIDs], [ErrLocked] or one of
// [Open].
func Import(ctx context.Context, path string, r io.Reader, o *ImportOptions) (pets, messages int64, err error) {
	i := &importer{ctx: ctx}
	if o != nil {
		i.ImportOptions = *o
	}
	err = replace(path, func(temp, old *os.File) (err error) {
		if old == nil {
			err = writeEmpty(temp.Name())
		} else {
			_, err = io.Copy(temp, old)
		}
		if err != nil {
			return err
		}
		if i.Store, err = open(temp.Name(), (*Options)(nil).filled(), false); err != nil {
			return openError(path, err)
		}
		i.db.NoSync = true // until replace syncs the whole file
		err = i.run(r)
		if err := errors.Join(err, i.Close()); err != nil {
			return err
		}
		if i.DryRun {
			return errDryRun
		}
		return nil
	})
	if err != nil && !errors.Is(err, errDryRun) {
		return 0, 0, err
	}
	return i.pets, i.queued, nil
}

// importer is an import under way.
type importer struct {
	ImportOptions
	*Store
	ctx          context.Context
	pets, queued int64 // read
	lastMessage  int64 // the highest number read
	keepNumbers  bool  // messages keep their numbers

	// Messages that were read and not yet added.
	messages []petstore.Message
	size     int
}

func (i *importer) run(r io.Reader) error {
	if s := i.lastState; !i.NewIDs && (s.lastPet() > 0 || s.LastMessage > 0) {
		return fmt.Errorf("%w: the store holds %d pets and has had %d messages", ErrIDs, s.lastPet(), s.LastMessage)
	}
	i.keepNumbers = i.lastState.LastMessage == 0
	ended := false
	var read error
	_, err := i.Load(i.ctx, func(yield func(petstore.NewPet) bool) {
		read = ReadExport(r, func(rec Record) error {
			ended = ended || rec.End != nil
			return i.add(rec, yield)
		})
	})
	switch err := cmp.Or(err, read); {
	case err != nil:
		return err
	case !ended && !i.NewIDs:
		return errors.New("the export was cut short: its last line is missing")
	}
	return i.addMessages()
}

// add adds a record: it passes a pet to yield, and keeps a message for addMessages.
func (i *importer) add(rec Record, yield func(petstore.NewPet) bool) error {
	switch p, m := rec.Pet, rec.Message; {
	case p != nil:
		i.pets++
		if !i.NewIDs && p.ID != i.pets {
			return fmt.Errorf("line %d: %w: the pet has the ID %d, want %d", rec.Line, ErrIDs, p.ID, i.pets)
		}
		if !yield(p.NewPet) {
			return errors.New("a pet cannot be stored") // Load returns why
		}
		if i.Progress != nil {
			i.Progress(i.pets)
		}
	case m != nil:
		i.queued++
		n, _ := petstore.ParseMessageID(m.ID)
		if !i.NewIDs && n <= i.lastMessage {
			return fmt.Errorf("line %d: %w: the message has the ID %q and follows number %d", rec.Line, ErrIDs, m.ID, i.lastMessage)
		}
		i.lastMessage = max(i.lastMessage, n)
		i.messages = append(i.messages, *m)
		if i.size += len(m.Text); i.size > maxLoadBytes || len(i.messages) == maxLoad {
			return i.addMessages()
		}
	default:
		i.lastMessage = max(i.lastMessage, rec.End.LastMessage)
	}
	return nil
}

// addMessages adds the messages that were read last.
func (i *importer) addMessages() error {
	err := i.change(i.ctx, i.size, func(u *update) error {
		for _, m := range i.messages {
			n, ok := petstore.ParseMessageID(m.ID)
			if !i.keepNumbers || !ok || n <= u.LastMessage {
				n = u.LastMessage + 1
			}
			if err := u.addMessage(n, m.CreatedAt.UnixNano(), m.Text); err != nil {
				return err
			}
		}
		if i.keepNumbers {
			u.LastMessage = max(u.LastMessage, i.lastMessage)
		}
		return nil
	})
	i.messages, i.size = i.messages[:0], 0
	return err
}
