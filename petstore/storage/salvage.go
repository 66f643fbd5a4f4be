package storage

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
)

// salvage looks for what the table itself no longer has: pets in the tables
// of their statuses, and everything on pages in use that the damage has cut
// off. Free pages are left alone, as they may hold what was never committed.
func (x *export) salvage() {
	from := []*table{x.table}
	if !x.Messages {
		for i := range statusTables {
			t := &statusTables[i]
			from = append(from, t)
			x.records(t.name, func(key, value []byte) {
				_ = x.record(t, key, value, x.emit)
			})
		}
	}
	if x.stopped || x.Written == x.total {
		return
	}
	if !x.freelist {
		x.report(fmt.Errorf("%w: the freelist cannot be read: what is found on stray pages may be more than was acknowledged", ErrDamaged))
	}
	x.unaccounted(func(id uint64) {
		if p, ok := x.stray(id); ok {
			x.gather(p, from)
		}
	})
	for _, id := range slices.Sorted(maps.Keys(x.saved)) {
		if record := x.saved[id]; record != nil {
			x.emit(id, record)
		} else {
			x.report(damage("there are different versions of the record %d, so it is left out", id))
		}
	}
}

// stray returns a page that is in its place, whatever kind its header says it
// is of, with those behind it that it says are its own.
func (x *export) stray(id uint64) (page, bool) {
	size := x.meta.pageSize
	b := make([]byte, size)
	if _, err := x.file.ReadAt(b, int64(id)*size); err != nil || native.Uint64(b) != id {
		return page{}, false
	}
	if more := uint64(native.Uint32(b[12:])); more > 0 && id+more < x.meta.pages {
		whole := make([]byte, int64(more+1)*size)
		if _, err := x.file.ReadAt(whole, int64(id)*size); err == nil {
			b = whole
		}
	}
	return page{id: id, flags: leafFlag, data: b[pageHeaderLen:]}, true
}

// gather takes the records of the tables out of what may be a leaf. That they
// are none of another table, or no records at all, their checksums tell.
func (x *export) gather(p page, from []*table) {
	for i := 0; (i+1)*elementLen <= len(p.data); i++ {
		key, value, isBucket, err := p.element(i)
		if err != nil {
			continue
		}
		if n := bucketHeaderLen + pageHeaderLen; isBucket && len(value) > n {
			x.gatherInline(page{id: p.id, flags: leafFlag, data: value[n:]}, from)
			continue
		}
		x.found(key, value, from)
	}
}

// gatherInline is gather for a bucket that is kept within its entry, and holds
// no other.
func (x *export) gatherInline(p page, from []*table) {
	for i := 0; (i+1)*elementLen <= len(p.data); i++ {
		if key, value, _, err := p.element(i); err == nil {
			x.found(key, value, from)
		}
	}
}

func (x *export) found(key, value []byte, from []*table) {
	if len(key) != 8 || len(value) <= sumLen {
		return
	}
	for _, t := range from {
		_ = x.record(t, key, value, func(id int64, record []byte) {
			if have, ok := x.saved[id]; ok && !bytes.Equal(have, record) {
				record = nil
			}
			x.saved[id] = record
		})
	}
}
