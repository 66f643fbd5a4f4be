package storage

import "sort"

// An export reads the pets from the table of all pets. If it skips damage, it reads the
// tables of the statuses too: a pet whose block is damaged in one table is in another one.

// petReader reads the pets of petTables[table] in order.
type petReader struct {
	table int
	after int64 // the pets up to this ID were read
	block block // read, without the pets that were taken

	damagedTo int64 // it has skipped damage up to this ID
}

// idGap is a range of IDs, both included.
type idGap struct{ from, to int64 }

// readPets reads pets into the part.
func (x *exporter) readPets(tx *transaction) (done bool, err error) {
	for _, r := range x.readers { // what they have read may be of a transaction that has ended
		r.block, r.after = block{}, max(x.pet, r.damagedTo)
	}
	for !x.full() {
		var next *petReader // the one with the lowest ID
		for _, r := range x.readers {
			if err := r.fill(tx, x.damage); err != nil {
				return false, err
			}
			if r.block.pets() > 0 && (next == nil || r.block.id(0) < next.block.id(0)) {
				next = r
			}
		}
		if next == nil || next.block.id(0) > x.of.LastIDs[allPets] {
			x.addGap(x.of.LastIDs[allPets] + 1)
			return true, nil
		}
		id, json := next.block.next()
		x.addGap(id)
		for _, r := range x.readers {
			if r.block.pets() > 0 && r.block.id(0) == id {
				r.block.next()
			}
		}
		if err := x.out.Pet(json); err != nil {
			return false, err
		}
		x.pet = id
	}
	return false, nil
}

// fill reads the next block once all pets of the last one are taken. It calls damage with
// what it cannot read, and goes on after that if damage returns nil.
func (r *petReader) fill(tx *transaction, damage func(error) error) error {
	for r.block.pets() == 0 && r.after < tx.LastIDs[r.table] {
		b, err := r.seek(tx, r.after)
		if err == nil {
			r.block, r.after = b, b.last
		} else if err := damage(err); err != nil {
			return err
		} else {
			r.skip(tx)
		}
	}
	return nil
}

// seek returns the next pets after an ID.
func (r *petReader) seek(tx *transaction, after int64) (b block, err error) {
	err = safely(func() error {
		b, err = seekBlock(tx.pets[r.table].table, tx.pets[r.table].Cursor(), after+1)
		return err
	})
	return b, err
}

// skip moves r to the lowest ID after which there is something to read, or to the last ID.
// It tries every ID at first. Its steps become longer, since an import may have left out
// many IDs. If a step was too long, it looks for the lowest ID in between.
func (r *petReader) skip(tx *transaction) {
	last := tx.LastIDs[r.table]
	readable := func(after int64) bool {
		if after >= last {
			return true
		}
		_, err := r.seek(tx, after)
		return err == nil
	}
	low, high := r.after, r.after+1
	for !readable(high) {
		step := 1 + (high-r.after)/64
		low, high = high, high+min(step, last-high)
	}
	for high-low > 1 {
		if middle := low + (high-low)/2; readable(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	r.after, r.damagedTo = high, high
}

// addGap notes which IDs are missing between the last pet and the one with an ID, if there
// was damage.
func (x *exporter) addGap(id int64) {
	if x.pet < x.readers[0].damagedTo && id > x.pet+1 {
		x.lost = append(x.lost, idGap{x.pet + 1, id - 1})
	}
}

// hasLost reports whether damage may have been where the pet was.
func (x *exporter) hasLost(id int64) bool {
	i := sort.Search(len(x.lost), func(i int) bool { return x.lost[i].to >= id })
	return i < len(x.lost) && x.lost[i].from <= id
}

// guessIDs sets the highest IDs of a file whose state is damaged: to those in the last
// blocks of its tables. If such a block is damaged too, to the highest in another table.
func (tx *transaction) guessIDs(damage func(error) error) {
	for i, b := range tx.pets {
		err := safely(func() error {
			last, err := b.lastBlock()
			tx.LastIDs[i] = last.last
			return err
		})
		_ = damage(err) // the export goes on: it would have ended at the state
		if err != nil {
			tx.LastIDs[i] = -1
		}
		tx.LastPet = max(tx.LastPet, tx.LastIDs[i])
	}
	for i, last := range tx.LastIDs {
		if last < 0 || i == allPets {
			tx.LastIDs[i] = tx.LastPet
		}
	}
}
