package storage

import (
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
// [Check] it trusts nothing, changes nothing, and refuses a file that is in use
// ([ErrLocked]).
//
// With SkipDamaged it looks for pets whose record is damaged in the table of
// their status, and then on pages that no table leads to any more. What it finds
// there follows the rest. It writes only records that pass their checksum, and
// leaves out a pet of which it finds different versions.
func Export(path string, w io.Writer, o *ExportOptions) (Exported, error) {
	x := &export{w: w, table: &petTables[0], stray: map[int64][]byte{}}
	if o != nil {
		x.ExportOptions = *o
	}
	if x.Messages {
		x.table = &queueTable
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
	table   *table
	file    *boltfile.File
	total   int64    // records that were stored; -1: unknown
	written []uint64 // a bit for each ID
	stray   map[int64][]byte
	err     error // ends the export
}

func (x *export) run(path string) error {
	file, closeFile, err := scan(path, x.found)
	if err != nil {
		return err
	}
	defer closeFile()
	x.file = file
	x.count()
	x.exportTable(x.table)
	if x.Written != x.total {
		x.salvage()
	}
	x.Lost = -1
	if x.total >= 0 {
		x.Lost = max(0, x.total-x.Written)
	}
	if x.Lost != 0 && !x.SkipDamaged {
		x.found(damaged("%s holds %d records and not %d", x.table.name, x.Written, x.total))
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

// count reads how many records there must be.
func (x *export) count() {
	x.total, x.Last = -1, -1
	if x.file.Lost {
		return
	}
	for key, value := range x.file.Records(string(metaTable.name)) {
		body, err := metaTable.open(key, value)
		if err != nil || string(key) != string(stateKey) {
			continue
		}
		s, err := decodeState(body)
		if err != nil {
			continue
		}
		if x.total, x.Last = s.lastPet(), s.lastPet(); x.Messages {
			x.total, x.Last = s.queued, s.lastMessage
		}
		if x.file.Spare != nil && s.closed == 0 { // there may have been more
			x.total = -1
			x.found(s.judgeInvalid(x.file.Spare))
		}
		return
	}
	x.found(damaged("the counters cannot be read"))
}

// exportTable writes the records of a table that were not written before.
func (x *export) exportTable(t *table) {
	if x.file.Lost {
		return
	}
	for key, value := range x.file.Records(string(t.name)) {
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

// records calls yield with the JSON of each pet, or of the message, in a record
// that is sound, except those that were written before.
func (x *export) records(t *table, key, value []byte, yield func(id int64, record []byte)) error {
	if t == &queueTable {
		return x.message(key, value, yield)
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
			return damaged("the record %d of %s is not that pet", id, t.name)
		}
		yield(id, record)
	}
	return nil
}

func (x *export) message(key, value []byte, yield func(id int64, record []byte)) error {
	body, err := queueTable.open(key, value)
	if err != nil {
		return err
	}
	if len(key) != 8 || len(body) < 8 {
		return damaged("the record %x of queue is not a message", key)
	}
	id := int64At(key)
	if !x.wanted(id) {
		return nil
	}
	record, err := json.Marshal(newMessage(id, int64At(body), string(body[8:])))
	if err == nil {
		yield(id, record)
	}
	return err
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
