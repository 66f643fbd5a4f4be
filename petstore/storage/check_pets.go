package storage

import (
	"hash/maphash"
	"iter"
)

// pets checks the table of all pets and those of the statuses, and makes sure
// that each status has the pets that the table of all says.
func (c *checker) pets() {
	seed := maphash.MakeSeed()
	last := int64(0)
	var want, got [len(petTables)]struct {
		pets int64
		last int64  // ID
		sum  uint64 // of the records
	}
	for id, record := range c.entries(&petTables[0]) {
		if id != last+1 && !c.damaged {
			c.found(damaged("the pets %d to %d are missing", last+1, id-1))
		}
		last = id
		pet, err := decodePet(record)
		if err != nil || pet.ID != id || pet.Validate() != nil {
			c.found(damaged("the record of the pet %d is not that pet", id))
		} else if pet.Status != "" {
			s := &want[petTableOf(pet.Status)]
			s.pets, s.last, s.sum = s.pets+1, id, s.sum^maphash.Bytes(seed, record)
		}
	}
	for i := 1; i < len(petTables); i++ {
		s := &got[i]
		for id, record := range c.entries(&petTables[i]) {
			s.pets, s.last, s.sum = s.pets+1, id, s.sum^maphash.Bytes(seed, record)
		}
	}
	if c.damaged {
		return // the tables differ by what is damaged
	}
	got[0].last = last
	for i, s := range got {
		name := petTables[i].name
		if s.last != c.state.lastIDs[i] {
			c.found(damaged("%s ends at %d, want %d", name, s.last, c.state.lastIDs[i]))
		}
		if i > 0 && s != want[i] {
			c.found(damaged("%s holds %d pets, which are not the %d that pets has with that status", name, s.pets, want[i].pets))
		}
	}
}

// entries yields the ID and the record of each pet in the sound blocks of a
// table, in order, and makes sure that no block is missing between them.
func (c *checker) entries(t *table) iter.Seq2[int64, []byte] {
	return func(yield func(id int64, record []byte) bool) {
		last, afterDamage := int64(0), false
		for key, value := range c.file.Records(string(t.name)) {
			b, err := openBlock(t, key, value)
			if err != nil {
				c.found(err)
				afterDamage = true
				continue
			}
			if b.prev != last && !afterDamage || b.first <= last {
				c.found(damaged("%s goes from %d to %d and leaves out %d", t.name, last, b.first, b.prev))
			}
			last, afterDamage = b.lastID(), false
			for i := range b.n {
				if !yield(b.id(i), b.records(i, i+1)) {
					return
				}
			}
		}
	}
}
