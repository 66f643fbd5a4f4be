package storage

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore/storage/internal/boltfile"
)

// ExportOptions are the settings of [Export]. The zero value and nil are ready
// for use.
type ExportOptions struct {
	// Messages selects the queued messages. false: the pets.
	Messages bool

	// SkipDamaged makes Export skip what is damaged. false: the first damage
	// ends the export.
	SkipDamaged bool

	// Report is called with each damage that is skipped. nil: it is not
	// reported.
	Report func(error)
}

// Exported counts what [Export] has done.
type Exported struct {
	Written int64
	Lost    int64 // records that were stored and were not found; -1: unknown
	Last    int64 // the highest ID, or number of a message, ever issued; -1: unknown
}

// Export writes the pets in the file at path to w, or the queued messages, as
// they are in responses: one JSON object a line, in ascending order of ID. Like
// [Check] it verifies the file first, changes nothing, and refuses a file that is
// in use ([ErrLocked]).
//
// With SkipDamaged it then looks for the missing records on every page that is not
// free. It finds copies of pets in the tables of the statuses, and records that no
// table leads to any more, and writes them in the order of the pages. It writes
// only records that pass their checksum, and each ID once.
func Export(path string, w io.Writer, o *ExportOptions) (Exported, error) {
	x := &export{Exported: Exported{Lost: -1, Last: -1}, w: w}
	if o != nil {
		x.ExportOptions = *o
	}
	if err := x.run(path); err != nil {
		return x.Exported, fmt.Errorf("exporting from the store: %w", err)
	}
	return x.Exported, nil
}

// export is an export under way.
type export struct {
	ExportOptions
	Exported
	w       io.Writer
	state   state    // the zero state until it is read
	written []uint64 // a bit for each ID that was written
	err     error    // why the export ended early; nil: it has not
}

func (x *export) run(path string) error {
	s, err := scan(path, x.found)
	if err != nil {
		return err
	}
	defer s.close()
	x.state = s.state
	undecided := s.state.judgeInvalid(s.Spare)
	if errors.Is(undecided, ErrUndecided) {
		x.found(undecided)
	}
	if s.tables != nil && x.err == nil {
		if err := safely(func() error { return x.inOrder(s.tables) }); err != nil && x.err == nil {
			x.found(err)
		}
	}
	_, stored := x.issued()
	if x.SkipDamaged && x.Written != stored && x.err == nil {
		x.search(s.File)
	}
	x.Last, stored = x.issued()
	if stored >= 0 && !errors.Is(undecided, ErrUndecided) { // otherwise more may have been stored
		x.Lost = max(0, stored-x.Written)
	}
	return x.err
}

// issued returns the highest ID ever issued, and how many records the file should
// hold; -1 if that is unknown.
func (x *export) issued() (last, stored int64) {
	switch {
	case x.state.Schema == 0:
		return -1, -1
	case x.Messages:
		return x.state.LastMessage, x.state.Queued
	}
	return x.state.lastPet(), x.state.lastPet()
}

// inOrder writes the records of a table until the first damage.
func (x *export) inOrder(r *reader) error {
	if x.Messages {
		err := r.buckets.queue.ForEach(func(key, value []byte) error {
			return cmp.Or(x.writeMessage(key, value), x.err)
		})
		if err == nil && x.Written != r.state.Queued {
			err = damaged("the queue holds %d messages, want %d", x.Written, r.state.Queued)
		}
		return err
	}
	for b, err := range r.blocks(0) {
		if err = cmp.Or(err, x.err); err != nil {
			return err
		}
		x.writePets(b)
	}
	return nil
}

// found skips a damage or ends the export.
func (x *export) found(err error) {
	switch {
	case !x.SkipDamaged && x.err == nil:
		x.err = err
	case x.SkipDamaged && x.Report != nil:
		x.Report(err)
	}
}

// search writes the records on all pages that are not free. A free page may hold
// records that were never committed.
func (x *export) search(f *boltfile.File) {
	if f.FreeLost {
		x.found(damaged("the freelist cannot be read: what is saved may be more than was acknowledged"))
	}
	for key, value := range f.Scan() {
		// An error means that the record is of another table, or damaged.
		if s, err := openState(value); err == nil && !f.FreeLost { // otherwise it may be an older state
			x.state = s
		}
		if x.Messages {
			_ = x.writeMessage(key, value)
			continue
		}
		for i := range petTables {
			if b, err := openBlock(&petTables[i], key, value); err == nil {
				x.writePets(b)
			}
		}
		if x.err != nil {
			return
		}
	}
}

// writeMessage writes the message in a record.
func (x *export) writeMessage(key, value []byte) error {
	n, m, err := openMessage(key, value)
	if err != nil {
		return err
	}
	line, err := json.Marshal(m)
	if err == nil {
		x.write(n, line)
	}
	return err
}

// writePets writes the pets in a block.
func (x *export) writePets(b block) {
	for i := range b.n {
		x.write(b.id(i), b.records(i, i+1))
	}
}

// write writes a record, unless its ID was written before.
func (x *export) write(id int64, record []byte) {
	if x.err != nil || id < 1 {
		return
	}
	if need := id/64 + 1 - int64(len(x.written)); need > 0 {
		x.written = append(x.written, make([]uint64, need)...)
	}
	if x.written[id/64]&(1<<(id%64)) != 0 {
		return
	}
	if _, x.err = x.w.Write(append(record[:len(record):len(record)], '\n')); x.err != nil {
		return
	}
	x.written[id/64] |= 1 << (id % 64)
	x.Written++
}
