package storage

import (
	"bytes"
	"math"
	"sort"

	"go.etcd.io/bbolt"
)

// An export reads the pets from the table of all pets. If it skips damage, it reads the
// tables of the statuses too: a pet whose block is damaged in one table is in another one.

// petReader reads the blocks of petTables[table] in order.
type petReader struct {
	table  int
	tx     *snapshot     // that the rest is of
	cursor *bbolt.Cursor // at the last record; nil: the next one must be looked up
	next   int64         // the key of the next sound block is not below this one
	last   int64         // the ID before that block; noID: damage was skipped
	ended  bool          // there is no other block

	block block // read, without the pets that were taken
	key   int64 // of that block

	damagedTo int64 // pets up to this ID may be missing
}

const noID = -1

// idGap is a range of IDs, both included.
type idGap struct{ from, to int64 }

// readPets reads pets into the part.
func (x *exporter) readPets(tx *snapshot) (done bool, err error) {
	for _, r := range x.readers {
		r.use(tx)
	}
	for x.pet < x.start.LastIDs[allPets] && !x.full() {
		var next *petReader // the one with the lowest ID
		for _, r := range x.readers {
			if err := x.fill(r); err != nil {
				return false, err
			}
			if r.block.pets() > 0 && (next == nil || r.block.id(0) < next.block.id(0)) {
				next = r
			}
		}
		if next == nil {
			x.addGap(x.start.LastIDs[allPets])
			if x.start.known() && x.readers[0].last != noID {
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
func (x *exporter) fill(r *petReader) error {
	for {
		for r.block.pets() > 0 && r.block.id(0) <= x.pet {
			r.block.next()
		}
		if r.block.pets() > 0 || r.ended {
			return nil
		}
		if err := x.damage(r.read()); err != nil {
			return err
		}
	}
}

// use makes r read from tx. If that is another transaction than before, r reads its block
// again.
func (r *petReader) use(tx *snapshot) {
	if r.tx == tx {
		return
	}
	r.tx, r.cursor = tx, nil
	if r.block.pets() > 0 {
		r.next, r.last, r.block = r.key, r.block.prev, block{}
	}
}

// read reads the next block, and makes sure that a lookup would find it. If it returns an
// error, which is of damage, the next call reads what follows the damage.
func (r *petReader) read() error {
	t := &petTables[r.table]
	key, found, b := int64(0), false, block{}
	err := safely(func() error {
		var k, v []byte
		if r.cursor == nil {
			r.cursor = r.tx.pets[r.table].Cursor()
			k, v = r.cursor.Seek(idKey(r.next))
		} else {
			k, v = r.cursor.Next()
		}
		found = true // the page can be read
		if r.ended = k == nil; r.ended {
			return nil
		}
		sound, err := openBlock(t, k, v)
		if err != nil {
			return err
		}
		key, b = int64At(k), sound
		if at, _ := r.tx.pets[r.table].Cursor().Seek(k); !bytes.Equal(at, k) {
			return damaged("%s is out of reach", t.describe(k))
		}
		return nil
	})
	switch {
	case !found:
		r.skipPage()
	case r.ended:
		if r.last != r.tx.LastIDs[r.table] {
			r.damagedTo = math.MaxInt64
		}
		return nil
	case b.pets() > 0 && key < r.next:
		err, b = damaged("%s is out of order", t.name), block{}
	}
	if b.pets() == 0 {
		r.last = noID
		return err
	}
	if r.last != b.prev {
		r.damagedTo = key - 1
		if r.last != noID && err == nil {
			err = damaged("%s has a gap after %d", t.name, r.last)
		}
	}
	r.key, r.block, r.next, r.last = key, b, key+1, b.last
	return err
}

// skipPage moves r to the lowest key from which its table can be read again, or to its end.
// It tries every ID at first. Its steps become longer, since an import may have left out
// many IDs. If a step was too long, it looks for the lowest key in between.
func (r *petReader) skipPage() {
	r.cursor = nil
	readable := func(from int64) bool {
		return safely(func() error {
			r.tx.pets[r.table].Cursor().Seek(idKey(from))
			return nil
		}) == nil
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
