package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Totals counts what [Export] has written, or what [Import] has read.
type Totals struct {
	Pets, Messages int64

	// How many records were stored and not found by Export; -1: unknown. 0 for Import.
	LostPets, LostMessages int64
}

// ExportOptions are the settings of [Export]. The zero value and nil are ready for use.
type ExportOptions struct {
	// SkipDamaged makes Export write all records that pass their checksum and can be
	// reached. A pet in a damaged block comes from the table of its status.
	// false: the first damage ends the export.
	SkipDamaged bool

	// OnDamage is called with each damage that is skipped. nil: nothing is called.
	OnDamage func(error)
}

// Export writes the pets in the file at path to w, then the queued messages, as
// they are in responses: one JSON object a line, in ascending order of ID. The
// last line is an [ExportEnd]. Like [Check] it changes nothing, and refuses a file that is
// in use ([ErrLocked]). opts may be nil.
func Export(path string, w io.Writer, opts *ExportOptions) (Totals, error) {
	x := &export{w: w, Totals: Totals{LostPets: -1, LostMessages: -1}, lastMessage: -1}
	if opts != nil {
		x.ExportOptions = *opts
	}
	err := readFile(path, x.damage, x.records)
	if err == nil {
		err = x.write(ExportRecord{End: &ExportEnd{x.Pets, x.Messages, x.lastMessage}})
	}
	if err != nil {
		err = fmt.Errorf("exporting from the store %s: %w", path, err)
	}
	return x.Totals, err
}

// export is an export under way.
type export struct {
	ExportOptions
	Totals
	w           io.Writer
	lastMessage int64  // the highest number of a message ever issued; -1: unknown
	older       bool   // the last commit may be missing
	skipped     string // the last damage that was skipped
}

// damage skips what err says is damaged, and returns nil if the export goes on. It
// returns any other error, and nil, as it is.
func (x *export) damage(err error) error {
	if !x.SkipDamaged || !errors.Is(err, ErrDamaged) {
		return err
	}
	x.older = x.older || errors.Is(err, errUndecided)
	if text := err.Error(); text != x.skipped && x.OnDamage != nil { // not again for each pet of a block
		x.skipped = text
		x.OnDamage(err)
	}
	return nil
}

func (x *export) write(rec ExportRecord) error {
	line, err := rec.AppendLine(nil)
	if err == nil {
		_, err = x.w.Write(line)
	}
	return err
}

// records writes all records.
func (x *export) records(tx *transaction) error {
	if !tx.known() {
		// The last block has the last ID of all pets, as the state would. If it is damaged
		// too, take that of the last pet with a status.
		for _, t := range tx.pets {
			err := safely(func() error {
				last, err := t.lastBlock()
				tx.LastIDs[allPets] = max(tx.LastIDs[allPets], last.last)
				return err
			})
			_ = x.damage(err) // the export goes on: it would have ended at the state
		}
	}
	if err := x.pets(tx); err != nil {
		return err
	}
	if err := safely(func() error { return x.messages(tx) }); err != nil {
		if err := x.damage(err); err != nil {
			return err
		}
	}
	if tx.known() && !x.older {
		x.LostPets, x.LostMessages, x.lastMessage = tx.LastIDs[allPets]-x.Pets, tx.Queued-x.Messages, tx.LastMessage
	}
	return nil
}

// pets writes the pets.
func (x *export) pets(tx *transaction) error {
	for id := int64(1); id <= tx.LastIDs[allPets]; id++ {
		line, err := tx.line(allPets, id)
		if err != nil {
			if err := x.damage(err); err != nil {
				return err
			}
			// A pet with a status is in the table of that status too.
			for i := 1; i < len(petTables) && err != nil; i++ {
				line, err = tx.line(i, id)
			}
		}
		if err != nil {
			continue // it is lost
		}
		if _, err := x.w.Write(line); err != nil {
			return err
		}
		x.Pets++
	}
	return nil
}

// line returns the line of a pet in petTables[i].
func (tx *transaction) line(i int, id int64) (line []byte, err error) {
	err = safely(func() error {
		json, err := tx.pet(i, id)
		line = append(bytes.Clone(json), '\n')
		return err
	})
	return line, err
}

// messages writes the messages, up to a page that cannot be read.
func (x *export) messages(tx *transaction) error {
	for m, err := range tx.messages() {
		if err != nil {
			if err := x.damage(err); err != nil {
				return err
			}
			continue
		}
		if err := x.write(ExportRecord{Message: &m}); err != nil {
			return err
		}
		x.Messages++
	}
	return nil
}
