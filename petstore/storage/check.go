package storage

import (
	"fmt"
	"slices"
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
		if !slices.ContainsFunc(tables, func(t table) bool { return string(t.name) == name }) {
			s.found(damaged("unknown bucket %q", name))
		}
	}
	if !s.damaged { // damage hides pages that are in use, so they seem stray
		s.ReportStray()
	}
	if err := s.state.judgeInvalid(s.Spare); err != nil {
		s.found(err)
	}
	return nil
}

// checkPets checks the table of all pets and those of the statuses: that no
// block is missing, and that each status has as many pets as the table of all
// says.
func (s *scanner) checkPets() {
	var want, got [len(petTables)]int64
	for i := range petTables {
		t, last := &petTables[i], int64(0)
		afterDamage := false
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
			got[i] += int64(b.n)
			for j := 0; i == 0 && j < b.n; j++ {
				pet, err := decodePet(b.records(j, j+1))
				if err != nil || pet.ID != b.id(j) || pet.Validate() != nil {
					s.found(damaged("the record of the pet %d holds something else", b.id(j)))
				}
				want[petTableOf(pet.Status)]++
			}
		}
		if last != s.state.LastIDs[i] && !s.damaged {
			s.found(damaged("%s ends at %d, want %d", t.name, last, s.state.LastIDs[i]))
		}
	}
	want[0] = s.state.lastPet()
	if got != want && !s.damaged {
		s.found(damaged("the tables of the statuses hold %d pets, want %d", got, want))
	}
}

// checkQueue checks the queued messages.
func (s *scanner) checkQueue() {
	count := int64(0)
	for key, value := range s.Records(string(queueTable.name)) {
		count++
		if _, _, err := openMessage(key, value); err != nil {
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
			if _, err := openOutcome(t, key, value); err != nil {
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
