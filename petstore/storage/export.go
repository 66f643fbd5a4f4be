package storage

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
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
// [Check] it trusts nothing, changes nothing, and refuses a file that is in use
// ([ErrLocked]).
//
// If records are missing and SkipDamaged is set, it then looks for them on every
// page of the file that is not free, which finds the copies in the tables of the
// statuses and what the damage has cut off. These follow in the order of the
// pages. It writes only records that pass their checksum, and each ID once.
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
	written []uint64 // a bit for each ID
	err     error    // ends the export
}

func (x *export) run(path string) error {
	s, err := scan(path, x.found)
	if err != nil {
		return err
	}
	defer s.f.Close()
	total := int64(-1) // records that were stored; -1: unknown
	if s.known() {
		total, x.Last = s.state.lastPet(), s.state.lastPet()
		if x.Messages {
			total, x.Last = s.state.Queued, s.state.LastMessage
		}
	}
	if err := s.state.judgeInvalid(s.Spare); errors.Is(err, ErrUndecided) {
		total = -1 // there may have been more
		x.found(err)
	}
	tables := petTables[:]
	if x.Messages {
		tables = []table{queueTable}
	}
	if !s.Lost {
		for key, value := range s.Records(string(tables[0].name)) {
			if err := x.write(&tables[0], key, value); err != nil {
				x.found(err)
			}
			if x.err != nil {
				return x.err
			}
		}
	}
	if x.SkipDamaged && x.Written != total {
		x.search(s, tables)
	}
	if total >= 0 {
		x.Lost = max(0, total-x.Written)
	}
	if x.Lost != 0 && !x.SkipDamaged {
		x.found(damaged("%s holds %d records, want %d", tables[0].name, x.Written, total))
	}
	return x.err
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

// search writes the records of the tables that are on any page. It skips free
// pages, as they may hold what was never committed.
func (x *export) search(s *scanner, tables []table) {
	if s.FreeLost {
		x.found(damaged("the freelist cannot be read: what is saved may be more than was acknowledged"))
	}
	for key, value := range s.Scan() {
		for i := range tables {
			// An error says that the record is of another table or damaged, which
			// was reported.
			_ = x.write(&tables[i], key, value)
		}
		if x.err != nil {
			return
		}
	}
}

// write writes the pets or the message in a record, except for those that were
// written before.
func (x *export) write(t *table, key, value []byte) error {
	if x.Messages {
		id, m, err := openMessage(key, value)
		if err != nil {
			return err
		}
		record, err := json.Marshal(m)
		if err == nil {
			x.writeLine(id, record)
		}
		return err
	}
	b, err := openBlock(t, key, value)
	if err != nil {
		return err
	}
	for i := range b.n {
		x.writeLine(b.id(i), b.records(i, i+1))
	}
	return nil
}

// writeLine writes a record if its ID was issued, as far as that is known, and
// was not written yet.
func (x *export) writeLine(id int64, record []byte) {
	if x.err != nil || id < 1 || x.Last >= 0 && id > x.Last {
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
