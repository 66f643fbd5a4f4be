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
	// Messages has the queued messages written, and not the pets.
	Messages bool

	// SkipDamaged has what is damaged passed over. false: the first damage
	// ends the export.
	SkipDamaged bool

	// Report is told of each damage that is passed over. nil: nobody is.
	Report func(error)
}

// Exported counts what [Export] has done.
type Exported struct {
	Written int64
	Lost    int64 // known to have been there, and not found; -1: nobody knows
	Last    int64 // the highest ID, or number of a message, given out; -1: nobody knows
}

// Export writes the pets in the file at path to w, or the queued messages,
// as they are on the wire: a JSON object a line, in ascending order of ID.
// Like [Check] it trusts nothing, changes nothing, and refuses a file that is
// in use ([ErrLocked]).
//
// With SkipDamaged it looks for pets whose record is damaged in the table of
// their status, and then on pages that no longer hang on any other; what it
// finds there comes after the rest. It writes only what passes its checksum,
// and leaves out a pet of which different versions turn up.
func Export(path string, w io.Writer, o *ExportOptions) (Exported, error) {
	x := &export{w: w, table: &petTable, saved: map[int64][]byte{}}
	if o != nil {
		x.ExportOptions = *o
	}
	if x.Messages {
		x.table = &queueTable
	}
	if x.Report == nil {
		x.Report = func(error) {}
	}
	err := x.run(path)
	if err != nil {
		err = fmt.Errorf("exporting from the store: %w", err)
	}
	return x.Exported, err
}

// export is an export on its way.
type export struct {
	ExportOptions
	Exported
	w     io.Writer
	table *table
	*scanner
	have  []uint64 // a bit for each ID written
	total int64    // how many there are; -1: nobody knows
	high  int64    // the highest ID there is; -1: nobody knows

	undecided bool // what was stored last may be missing: see ErrUndecided

	saved map[int64][]byte // found on stray pages; nil: in different versions
	err   error
}

func (x *export) run(path string) (err error) {
	problem := func(err error) {
		if !x.SkipDamaged {
			x.fail(err)
			return
		}
		x.Report(err)
	}
	x.scanner, err = openScanner(path, problem)
	if err != nil {
		return err
	}
	if x.scanner == nil {
		if x.err == nil {
			x.err = damage("nothing in it can be found")
		}
		return x.err
	}
	defer x.close()
	x.stopped = x.err != nil
	x.count()
	x.records(x.table.name, func(key, value []byte) {
		if err := x.record(x.table, key, value, x.emit); err != nil {
			x.report(causeOf(err))
		}
	})
	if x.err == nil && x.Written != x.total {
		x.salvage()
	}
	if x.Lost = -1; x.total >= 0 && !x.undecided {
		x.Lost = max(0, x.total-x.Written)
	}
	if x.err == nil && x.Lost != 0 && !x.SkipDamaged {
		x.err = damage("%s holds %d records and not %d", x.table.name, x.Written, x.total)
	}
	return x.err
}

// fail ends the export.
func (x *export) fail(err error) {
	if x.err == nil {
		x.err = err
	}
	if x.scanner != nil {
		x.stopped = true
	}
}

// count reads how many records there ought to be.
func (x *export) count() {
	x.total, x.high = -1, -1
	x.records(metaTable.name, func(key, value []byte) {
		if body, err := metaTable.open(key, value); err == nil && string(key) == string(stateKey) {
			s, err := decodeState(body)
			if err != nil {
				return
			}
			if x.total, x.high = s.lastPet, s.lastPet; x.Messages {
				x.total, x.high = s.queued, s.lastMessage
			}
			if err := s.judgeInvalid(x.invalid); errors.Is(err, ErrUndecided) {
				x.undecided = true
				x.report(err)
			}
		}
	})
	x.Last = x.high
	if x.total < 0 {
		x.report(damage("the counters cannot be read"))
	}
}

// record hands the JSON of what is in a record to take, if the record is sound,
// without what was handed over before.
func (x *export) record(t *table, key, value []byte, take func(id int64, record []byte)) error {
	if t == &queueTable {
		return x.message(key, value, take)
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
			return damage("the record %d of %s is not that pet", id, t.name)
		}
		take(id, record)
	}
	return nil
}

func (x *export) message(key, value []byte, take func(id int64, record []byte)) error {
	body, err := queueTable.open(key, value)
	if err != nil {
		return err
	}
	if len(key) != 8 || len(body) < 8 {
		return damage("the record %x of queue is no message", key)
	}
	id := int64At(key)
	if !x.wanted(id) {
		return nil
	}
	record, err := json.Marshal(newMessage(id, int64At(body), string(body[8:])))
	if err != nil {
		return err
	}
	take(id, record)
	return nil
}

// wanted reports whether there can be an ID, and none such was written yet.
func (x *export) wanted(id int64) bool {
	return id >= 1 && (x.high < 0 || id <= x.high) && !x.written(id)
}

func (x *export) written(id int64) bool {
	return id >= 0 && id/64 < int64(len(x.have)) && x.have[id/64]&(1<<(id%64)) != 0
}

// emit writes a record.
func (x *export) emit(id int64, record []byte) {
	if x.stopped {
		return
	}
	if _, err := x.w.Write(append(record[:len(record):len(record)], '\n')); err != nil {
		x.fail(err)
		return
	}
	if need := id/64 + 1 - int64(len(x.have)); need > 0 {
		x.have = append(x.have, make([]uint64, need)...)
	}
	x.have[id/64] |= 1 << (id % 64)
	x.Written++
}
