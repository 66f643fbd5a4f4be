package storage

import (
	"math"
	"sort"
)

// An export reads the pets from the table of all pets. If it skips damage, it reads the
// tables of the statuses too: a pet whose block is damaged in one table is in another one.

// petReader reads the blocks of petTables[table] in order.
type petReader struct {
	table int
	next  int64 // the key of the next block is not below this one
	last  int64 // the ID before that block; unknown: damage was skipped
	ended bool  // there is no other block

	block block // read, without the pets that were taken
	key   int64 // of that block

	damagedTo int64 // pets up to this ID may be missing
}

const unknown = -1

// idGap is a range of IDs, both included.
type idGap struct{ from, to int64 }

// readPets reads pets into the part.
func (x *exporter) readPets(tx *transaction) (done bool, err error) {
	for _, r := range x.readers {
		r.rewind()
	}
	for x.pet < x.start.LastIDs[allPets] && !x.full() {
		var next *petReader // the one with the lowest ID
		for _, r := range x.readers {
			if err := x.fill(r, tx); err != nil {
				return false, err
			}
			if r.block.pets() > 0 && (next == nil || r.block.id(0) < next.block.id(0)) {
				next = r
			}
		}
		if next == nil {
			x.addGap(x.start.LastIDs[allPets])
			if x.start.known() && x.readers[0].last != unknown {
				err = damaged("%s has a gap after %d", petTables[allPets].name, x.pet)
			}
			return true, x.damage(err)
		}
		id, json := next.block.next()
		x.addGap(id - 1)
		if err := x.out.Pet(json); err != nil {
			return false, err
		}
		x.pet = id
		x.start.LastPet = max(x.start.LastPet, id)
	}
	return x.pet >= x.start.LastIDs[allPets], nil
}

// fill reads blocks into r until there is a pet that the export does not have.
func (x *exporter) fill(r *petReader, tx *transaction) error {
	for {
		for r.block.pets() > 0 && r.block.id(0) <= x.pet {
			r.block.next()
		}
		if r.block.pets() > 0 || r.ended {
			return nil
		}
		if err := x.damage(r.read(tx)); err != nil {
			return err
		}
	}
}

// rewind makes r read its block again: it may be of a transaction that has ended.
func (r *petReader) rewind() {
	if r.block.pets() > 0 {
		r.next, r.last, r.block = r.key, r.block.prev, block{}
	}
}

// read reads the next block. If it returns an error, which is of damage, r is after that.
func (r *petReader) read(tx *transaction) error {
	key, b, err := r.seek(tx, r.next)
	switch {
	case err != nil && key == unknown:
		r.last = unknown
		r.skipPage(tx)
		return err
	case err != nil:
		r.last, r.next = unknown, key+1
		return err
	case b.pets() == 0:
		r.ended = true
		if r.last == unknown {
			r.damagedTo = math.MaxInt64
		}
		return nil
	}
	if r.last != b.prev {
		r.damagedTo = key - 1
		if r.last != unknown {
			err = damaged("%s has a gap after %d", petTables[r.table].name, r.last)
		}
	}
	r.key, r.block, r.next, r.last = key, b, key+1, b.last
	return err
}

// seek returns the first block whose key is not below from, and its key. The block is empty
// if there is none. If seek fails, the key is unknown if the page cannot be read.
func (r *petReader) seek(tx *transaction, from int64) (key int64, b block, err error) {
	key = unknown
	err = safely(func() error {
		k, v := tx.pets[r.table].Cursor().Seek(idKey(from))
		if k == nil {
			key = 0
			return nil
		}
		if int64At(k) < from {
			return damaged("%s is out of order", petTables[r.table].name)
		}
		key = int64At(k)
		b, err = openBlock(tx.pets[r.table].table, k, v)
		return err
	})
	return key, b, err
}

// skipPage moves r to the lowest key from which its table can be read again, or to its end.
// It tries every ID at first. Its steps become longer, since an import may have left out
// many IDs. If a step was too long, it looks for the lowest key in between.
func (r *petReader) skipPage(tx *transaction) {
	readable := func(from int64) bool {
		key, _, _ := r.seek(tx, from)
		return key != unknown
	}
	low, high := r.next, r.next+1
	for !readable(high) {
		if high == math.MaxInt64 {
			r.ended, r.damagedTo = true, math.MaxInt64
			return
		}
		step := 1 + (high-r.next)/64
		low, high = high, high+min(step, math.MaxInt64-high)
	}
	for high-low > 1 {
		if middle := low + (high-low)/2; readable(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	r.next = high
}

// addGap notes that the pets from the last one up to an ID are missing, if damage may have
// been where they were.
func (x *exporter) addGap(to int64) {
	if x.pet < to && x.pet < x.readers[0].damagedTo {
		x.lost = append(x.lost, idGap{x.pet + 1, to})
	}
}

// hasLost reports whether damage may have been where a pet was.
func (x *exporter) hasLost(id int64) bool {
	i := sort.Search(len(x.lost), func(i int) bool { return x.lost[i].to >= id })
	return i < len(x.lost) && x.lost[i].from <= id
}
