package storage

import (
	"fmt"
	"hash/maphash"
	"iter"
	"slices"

	"example.com/animalstore/petstore/storage/internal/boltfile"
)

// Check reads the whole file at path, every page and every record, and calls
// report for each damage that it finds; the error wraps [ErrDamaged] and names
// the page or the record. It changes nothing, maps nothing into memory, and needs
// little memory for any file.
//
// Check returns an error if the file cannot be checked: it is in use
// ([ErrLocked]; on Windows that is not noticed), is from a newer release
// ([ErrNewer]), or cannot be read.
func Check(path string, report func(error)) error {
	s, err := scan(path, report)
	if err != nil {
		return fmt.Errorf("checking the store: %w", err)
	}
	defer s.f.Close()
	if s.Lost {
		return nil // nothing leads to any record
	}
	s.checkPets()
	s.checkQueue()
	s.checkOutcomes()
	for _, name := range s.Buckets() {
		if !slices.ContainsFunc(tables(), func(t table) bool { return string(t.name) == name }) {
			s.found(damaged("unknown bucket %q", name))
		}
	}
	if !s.damaged { // damage hides pages that are in use, so they seem stray
		for id := range s.Stray() {
			s.found(boltfile.StrayPage(id))
		}
	}
	if err := s.state.judgeInvalid(s.Spare); err != nil {
		s.found(err)
	}
	return nil
}

// checkPets checks the table of all pets and those of the statuses, and makes
// sure that each status has the pets that the table of all says.
func (s *scanner) checkPets() {
	type sum struct {
		pets, last int64  // their number, and the last ID
		hash       uint64 // of the records
	}
	seed := maphash.MakeSeed()
	add := func(t *sum, id int64, record []byte) {
		*t = sum{t.pets + 1, id, t.hash ^ maphash.Bytes(seed, record)}
	}
	var want, got [len(petTables)]sum
	for id, record := range s.pets(&petTables[0]) {
		if id != want[0].last+1 && !s.damaged {
			s.found(damaged("the pets %d to %d are missing", want[0].last+1, id-1))
		}
		add(&want[0], id, record)
		pet, err := decodePet(record)
		if err != nil || pet.ID != id || pet.Validate() != nil {
			s.found(damaged("the record of the pet %d holds something else", id))
		} else if pet.Status != "" {
			add(&want[petTableOf(pet.Status)], id, record)
		}
	}
	got[0] = want[0]
	for i := 1; i < len(petTables); i++ {
		for id, record := range s.pets(&petTables[i]) {
			add(&got[i], id, record)
		}
	}
	if s.damaged {
		return // the tables differ by what is damaged
	}
	for i, t := range petTables {
		if got[i].last != s.state.LastIDs[i] {
			s.found(damaged("%s ends at %d, want %d", t.name, got[i].last, s.state.LastIDs[i]))
		}
		if got[i] != want[i] {
			s.found(damaged("the %d pets of %s are not the %d pets with that status", got[i].pets, t.name, want[i].pets))
		}
	}
}

// pets yields the ID and the record of each pet in the sound blocks of a table,
// in order, and makes sure that no block is missing between them.
func (s *scanner) pets(t *table) iter.Seq2[int64, []byte] {
	return func(yield func(id int64, record []byte) bool) {
		last, afterDamage := int64(0), false
		for key, value := range s.Records(string(t.name)) {
			b, err := openBlock(t, key, value)
			if err != nil {
				s.found(err)
				afterDamage = true
				continue
			}
			if b.prev != last && !afterDamage || b.first <= last {
				s.found(damaged("the block %d of %s follows %d, want %d", b.first, t.name, last, b.prev))
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

// checkQueue checks the queued messages.
func (s *scanner) checkQueue() {
	count := int64(0)
	for key, value := range s.Records(string(queueTable.name)) {
		count++
		n, _, err := openMessage(key, value)
		if err == nil && s.known() && n > s.state.LastMessage {
			err = damaged("the message %d was never accepted", n)
		}
		if err != nil {
			s.found(err)
		}
	}
	if s.known() && count != s.state.Queued {
		s.found(damaged("the queue holds %d messages, want %d", count, s.state.Queued))
	}
}

// checkOutcomes checks the outcomes of idempotent creates, and that none is
// missing.
func (s *scanner) checkOutcomes() {
	for i := range onceTables {
		t, sum := &onceTables[i], int64(0)
		for key, value := range s.Records(string(t.name)) {
			o, err := openOutcome(t, key, value)
			if err == nil && s.known() && (o.n < 1 || o.n > max(s.state.lastPet(), s.state.LastMessage)) {
				err = damaged("the record %x of %s is of %d, which was never created", key, t.name, o.n)
			}
			if err != nil {
				s.found(err)
			} else {
				sum += storedSum(value)
			}
		}
		if s.known() && sum != s.state.OnceSums[i] {
			s.found(damaged("%s does not hold the outcomes that were stored last", t.name))
		}
	}
}
