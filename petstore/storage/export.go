package storage

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
)

// ExportOptions are the settings of [Export]. The zero value and nil are ready
// for use.
type ExportOptions struct {
	// SkipDamaged makes Export skip what is damaged. false: the first damage
	// ends the export.
	SkipDamaged bool

	// Report is called with each damage that is skipped. nil: it is not
	// reported.
	Report func(error)
}

// Exported counts what [Export] has done.
type Exported struct{ Pets, Messages Counts }

// Counts are the counts of one kind of record.
type Counts struct {
	Written int64
	Lost    int64 // records that were stored and were not found; -1: unknown
	Last    int64 // the highest ID, or number of a message, ever issued; -1: unknown
}

// Export writes the pets in the file at path to w, then the queued messages, as
// they are in responses: one JSON object a line, in ascending order of ID. The
// last line is an [End]. Like [Check] it verifies the file first, changes nothing,
// and refuses a file that is in use ([ErrLocked]).
//
// With SkipDamaged it checks every record before it writes. If anything is damaged,
// it looks for records on every page of the file that is not free: it finds the
// copies in the tables of the statuses, and what no table leads to any more. It
// writes only records that pass their checksum, each ID once, in the order of the
// IDs. If it cannot know which pages are free, it leaves out records of which it
// finds different versions.
func Export(path string, w io.Writer, o *ExportOptions) (Exported, error) {
	x := &export{w: w}
	if o != nil {
		x.ExportOptions = *o
	}
	err := x.run(path)
	if err != nil {
		err = fmt.Errorf("exporting from the store %s: %w", path, err)
	}
	return x.Exported, err
}

// export is an export under way.
type export struct {
	ExportOptions
	Exported
	w        io.Writer
	damaged  bool  // found has been called
	doubtful bool  // found has said that the free pages are not known
	err      error // ends the export
}

func (x *export) run(path string) error {
	s, err := scan(path, x.found)
	if err != nil {
		return err
	}
	defer s.close()
	invalid := s.state.judgeInvalid(s.Spare)
	undecided := errors.Is(invalid, ErrUndecided)
	if undecided {
		x.found(invalid)
	}
	if x.SkipDamaged {
		s.checkTables(x.found)
	}
	switch {
	case x.err != nil:
		return x.err
	case x.damaged:
		x.salvage(s, undecided)
	default:
		if err := safely(func() error { return x.inOrder(s.tables) }); err != nil {
			return err
		}
	}
	line, err := json.Marshal(map[string]End{"end": {x.Pets.Written, x.Messages.Written, x.Messages.Last}})
	return cmp.Or(err, x.write(line, new(int64)))
}

// found reports damage, and ends the export unless damage is skipped.
func (x *export) found(err error) {
	x.damaged = true
	switch {
	case !x.SkipDamaged:
		x.err = cmp.Or(x.err, err)
	case x.Report != nil:
		x.Report(err)
	}
}

// inOrder writes the records in the tables, until the first damage.
func (x *export) inOrder(r *reader) error {
	x.Pets.Last, x.Messages.Last = r.state.lastPet(), r.state.LastMessage
	for b, err := range r.blocks(0) {
		for i := 0; i < b.n && err == nil; i++ {
			err = x.write(b.records(i, i+1), &x.Pets.Written)
		}
		if err != nil {
			return err
		}
	}
	for m, err := range r.messages() {
		if err != nil {
			return err
		}
		line, err := json.Marshal(m)
		if err := cmp.Or(err, x.write(line, &x.Messages.Written)); err != nil {
			return err
		}
	}
	return nil
}

// write writes a line and counts it, unless the export has ended.
func (x *export) write(line []byte, count *int64) error {
	if x.err == nil {
		*count++
		_, x.err = x.w.Write(append(line[:len(line):len(line)], '\n'))
	}
	return x.err
}
