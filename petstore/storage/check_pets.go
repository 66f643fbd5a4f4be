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
	var want, got [len(statusTables)]struct {
		pets int64
		last int64  // ID
		sum  uint64 // of the records
	}
	for id, record := range c.entries(&petTable) {
		if id != last+1 && !c.damaged {
			c.found(damaged("the pets %d to %d are missing", last+1, id-1))
		}
		last = id
		pet, err := decodePet(record)
		if err != nil || pet.ID != id || pet.Validate() != nil {
			c.found(damaged("the record of the pet %d is not that pet", id))
		} else if pet.Status != "" {
			s := &want[statusIndex(pet.Status)]
			s.pets, s.last, s.sum = s.pets+1, id, s.sum^maphash.Bytes(seed, record)
		}
	}
	for i := range statusTables {
		s := &got[i]
		for id, record := range c.entries(&statusTables[i]) {
			s.pets, s.last, s.sum = s.pets+1, id, s.sum^maphash.Bytes(seed, record)
		}
	}
	if c.damaged {
		return // the tables differ by what is damaged
	}
	if last != c.state.lastPet {
		c.found(damaged("pets ends at %d and not at %d", last, c.state.lastPet))
	}
	for i, s := range got {
		name := statusTables[i].name
		if s.last != c.state.last[i] {
			c.found(damaged("%s ends at %d and not at %d", name, s.last, c.state.last[i]))
		}
		if s != want[i] {
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
