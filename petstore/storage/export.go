package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

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
// With SkipDamaged it looks for pets whose record is damaged in the table of
// their status, and then on pages that no table leads to any more. What it finds
// there follows the rest. It writes only records that pass their checksum, and
// leaves out a pet of which it finds different versions.
func Export(path string, w io.Writer, o *ExportOptions) (Exported, error) {
	x := &export{Exported: Exported{Lost: -1, Last: -1}, w: w, stray: map[int64][]byte{}}
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
	written []uint64         // a bit for each ID
	stray   map[int64][]byte // records on stray pages; nil: there are different versions
	err     error            // ends the export
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
	for i := range tables { // those of the statuses only if something is missing
		if x.err == nil && x.Written != total && !s.Lost {
			x.exportTable(s, &tables[i])
		}
	}
	if x.err == nil && x.Written != total {
		x.salvage(s, tables)
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

// exportTable writes the records of a table that were not written before.
func (x *export) exportTable(s *scanner, t *table) {
	for key, value := range s.Records(string(t.name)) {
		if x.err == nil {
			if err := x.records(t, key, value, x.write); err != nil {
				x.found(err)
			}
		}
		if x.err != nil {
			return
		}
	}
}

// salvage writes the records on the pages that the damage has cut off. It skips
// free pages, as they may hold what was never committed.
func (x *export) salvage(s *scanner, tables []table) {
	if s.FreeLost {
		x.found(damaged("the freelist cannot be read: what is found on stray pages may be more than was acknowledged"))
	}
	for id := range s.Stray() {
		for key, value := range s.Salvage(id) {
			for i := range tables {
				// The error says that the record is of another table, or not a record.
				_ = x.records(&tables[i], key, value, x.keep)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(x.stray)) {
		if record := x.stray[id]; record != nil {
			x.write(id, record)
		} else {
			x.found(damaged("there are different versions of the record %d, so it is left out", id))
		}
	}
}

// keep keeps a record of a stray page.
func (x *export) keep(id int64, record []byte) {
	if have, ok := x.stray[id]; ok && !bytes.Equal(have, record) {
		x.stray[id] = nil
	} else {
		x.stray[id] = bytes.Clone(record)
	}
}

// records calls yield with the JSON of each pet, or of the message, in a sound
// record, except for those that were written before.
func (x *export) records(t *table, key, value []byte, yield func(id int64, record []byte)) error {
	if x.Messages {
		id, m, err := openMessage(key, value)
		if err != nil || !x.wanted(id) {
			return err
		}
		record, err := json.Marshal(m)
		if err == nil {
			yield(id, record)
		}
		return err
	}
	b, err := openBlock(t, key, value)
	if err != nil {
		return err
	}
	for i := range b.n {
		id, record := b.id(i), b.records(i, i+1)
		if !x.wanted(id) {
			continue
		}
		if pet, err := decodePet(record); err != nil || pet.ID != id {
			return damaged("the record %d of %s holds something else", id, t.name)
		}
		yield(id, record)
	}
	return nil
}

// wanted reports whether an ID was issued, as far as that is known, and was not
// written yet.
func (x *export) wanted(id int64) bool {
	if id < 1 || x.Last >= 0 && id > x.Last {
		return false
	}
	return id/64 >= int64(len(x.written)) || x.written[id/64]&(1<<(id%64)) == 0
}

func (x *export) write(id int64, record []byte) {
	if x.err != nil {
		return
	}
	if _, err := x.w.Write(append(record[:len(record):len(record)], '\n')); err != nil {
		x.err = err
		return
	}
	if need := id/64 + 1 - int64(len(x.written)); need > 0 {
		x.written = append(x.written, make([]uint64, need)...)
	}
	x.written[id/64] |= 1 << (id % 64)
	x.Written++
}
