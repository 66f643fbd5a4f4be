package storage

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore/storage/internal/boltfile"
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
// With SkipDamaged it looks for what is missing on every page of the file that is
// not free: it finds the copies in the tables of the statuses, and what no table
// leads to any more. These records follow in the order of the pages. It writes
// only records that pass their checksum, and each ID once. If it cannot know which
// pages are free, it leaves out records of which it finds different versions.
func Export(path string, w io.Writer, o *ExportOptions) (Exported, error) {
	x := &export{w: w}
	if o != nil {
		x.ExportOptions = *o
	}
	done, err := x.run(path)
	if err != nil {
		err = fmt.Errorf("exporting from the store %s: %w", path, err)
	}
	return done, err
}

// export is an export under way.
type export struct {
	ExportOptions
	w   io.Writer
	err error // ends the export

	freeLost bool // found has said so

	// Of the kind of records that is written now:
	Counts
	messages bool             // otherwise pets
	state    state            // the zero state until it is read
	written  map[int64]uint64 // a bit for each ID that is written or left out
}

func (x *export) run(path string) (done Exported, err error) {
	s, err := scan(path, x.found)
	if err != nil {
		return done, err
	}
	defer s.close()
	undecided := s.state.judgeInvalid(s.Spare)
	last := !errors.Is(undecided, ErrUndecided)
	if !last {
		x.found(undecided)
	}
	done.Pets = x.records(s, false, last)
	done.Messages = x.records(s, true, last)
	if x.err == nil {
		var line []byte
		line, x.err = json.Marshal(map[string]End{"end": {done.Pets.Written, done.Messages.Written, done.Messages.Last}})
		x.writeLine(line)
	}
	return done, x.err
}

// records writes the pets or the messages. last says that the state is that of the
// last commit.
func (x *export) records(s *scanner, messages, last bool) Counts {
	x.Counts = Counts{Lost: -1, Last: -1}
	x.messages, x.state, x.written = messages, s.state, map[int64]uint64{}
	if s.tables != nil && x.err == nil {
		if err := safely(func() error { return x.inOrder(s.tables) }); err != nil && x.err == nil {
			x.found(err)
		}
	}
	_, stored := x.issued()
	removed := false // messages may be among those that are written
	if x.SkipDamaged && x.Written != stored && x.err == nil {
		x.search(s.File)
		removed = messages && s.FreeLost
	}
	x.Last, stored = x.issued()
	if stored >= 0 && !removed && last { // otherwise more may have been stored
		x.Lost = max(0, stored-x.Written)
	}
	return x.Counts
}

// issued returns the highest ID ever issued, and how many records the file should
// hold; -1 if that is unknown.
func (x *export) issued() (last, stored int64) {
	switch {
	case x.state.Schema == 0:
		return -1, -1
	case x.messages:
		return x.state.LastMessage, x.state.Queued
	}
	return x.state.lastPet(), x.state.lastPet()
}

// inOrder writes the records of a table until the first damage.
func (x *export) inOrder(r *reader) error {
	if x.messages {
		count := int64(0)
		err := r.buckets.queue.ForEach(func(key, value []byte) error {
			count++
			return cmp.Or(message(key, value, x.write), x.err)
		})
		if err == nil && count != r.state.Queued {
			err = damaged("the queue holds %d messages, want %d", count, r.state.Queued)
		}
		return err
	}
	for b, err := range r.blocks(0) {
		if err = cmp.Or(err, x.err); err != nil {
			return err
		}
		pets(b, x.write)
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

// search writes the records on all pages, those on sound leaves of a table first.
// It skips free pages, as they may hold what was never committed.
func (x *export) search(f *boltfile.File) {
	x.findState(f)
	x.scan(f, true, x.write)
	if f.FreeLost {
		if !x.freeLost {
			x.freeLost = true
			x.found(damaged("the free pages are not known: what is saved may be more than was acknowledged"))
		}
		sums := map[int64]uint32{}
		x.scan(f, false, func(id int64, record []byte) {
			sum := crc32.Checksum(record, castagnoli)
			if first, ok := sums[id]; ok && first != sum && x.wanted(id) {
				x.written[id/64] |= 1 << (id % 64)
				x.found(damaged("there are different versions of the record %d, so it is left out", id))
			}
			sums[id] = sum
		})
	}
	x.scan(f, false, x.write)
}

// findState looks for the newest state. If the free pages are not known, that on
// a page which no tree leads to may be one that was never committed.
func (x *export) findState(f *boltfile.File) {
	for _, placed := range []bool{true, false} {
		if !placed && f.FreeLost {
			return
		}
		for _, value := range f.Scan(placed) {
			s, err := openState(value)
			if err == nil && s.lastPet() >= x.state.lastPet() && s.LastMessage >= x.state.LastMessage {
				x.state = s
			}
		}
	}
}

// scan calls yield with the records on sound leaves of a table, or on all other
// pages. It ends when writing has failed.
func (x *export) scan(f *boltfile.File, placed bool, yield func(id int64, record []byte)) {
	for key, value := range f.Scan(placed) {
		if x.err != nil {
			return
		}
		// An error means that the record is of another table, or damaged.
		if x.messages {
			_ = message(key, value, yield)
			continue
		}
		for i := range petTables {
			if b, err := openBlock(&petTables[i], key, value); err == nil {
				pets(b, yield)
			}
		}
	}
}

// message calls yield with the message in a record.
func message(key, value []byte, yield func(id int64, record []byte)) error {
	n, m, err := openMessage(key, value)
	if err != nil {
		return err
	}
	line, err := json.Marshal(m)
	if err == nil {
		yield(n, line)
	}
	return err
}

// pets calls yield with the pets in a block.
func pets(b block, yield func(id int64, record []byte)) {
	for i := range b.n {
		yield(b.id(i), b.records(i, i+1))
	}
}

// wanted reports whether an ID was issued, as far as that is known, and is
// neither written nor left out.
func (x *export) wanted(id int64) bool {
	last, _ := x.issued()
	return id > 0 && (last < 0 || id <= last) && x.written[id/64]&(1<<(id%64)) == 0
}

// write writes a record that is wanted.
func (x *export) write(id int64, record []byte) {
	if x.err != nil || !x.wanted(id) {
		return
	}
	if x.writeLine(record); x.err != nil {
		return
	}
	x.written[id/64] |= 1 << (id % 64)
	x.Written++
}

// writeLine writes a line unless the export has ended.
func (x *export) writeLine(line []byte) {
	if x.err == nil {
		_, x.err = x.w.Write(append(line[:len(line):len(line)], '\n'))
	}
}
