package storage

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
)

// salvage looks for what the table no longer has: for pets in the tables of their
// statuses, and for any record on the pages that the damage has cut off. It skips
// free pages, as they may hold what was never committed.
func (x *export) salvage() {
	from := []*table{x.table}
	if !x.Messages {
		for i := 1; i < len(petTables); i++ {
			from = append(from, &petTables[i])
			x.exportTable(&petTables[i])
		}
	}
	if x.err != nil || x.Written == x.total {
		return
	}
	if x.file.FreeLost {
		x.found(fmt.Errorf("%w: the freelist cannot be read: what is found on stray pages may be more than was acknowledged", ErrDamaged))
	}
	for id := range x.file.Stray() {
		for key, value := range x.file.Salvage(id) {
			if len(key) == 8 && len(value) > sumLen {
				x.keep(from, key, value)
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

// keep keeps what is in a stray record, if its checksum is right for one of the
// tables: nil for an ID of which there are different versions.
func (x *export) keep(from []*table, key, value []byte) {
	for _, t := range from {
		// The error says that the record is of another table, or not a record.
		_ = x.records(t, key, value, func(id int64, record []byte) {
			if have, ok := x.stray[id]; ok && !bytes.Equal(have, record) {
				x.stray[id] = nil
			} else {
				x.stray[id] = bytes.Clone(record)
			}
		})
	}
}
