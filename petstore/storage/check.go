package storage

import (
	"bytes"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"
)

// Check reads the whole file at path and calls report for each damage that it
// finds; the error wraps [ErrDamaged] and names the page or the record. First it
// reads every page, with ordinary reads. If all are sound, it reads every record,
// and reports the first block of each table of pets that is damaged or missing.
// It changes nothing, and needs little memory for any file.
//
// Check returns an error if the file cannot be checked: it is in use
// ([ErrLocked]; on Windows that is not noticed), is from a newer release
// ([ErrNewer]), or cannot be read.
func Check(path string, report func(error)) error {
	s, err := scan(path, report)
	if err != nil {
		return fmt.Errorf("checking the store %s: %w", path, err)
	}
	defer s.close()
	s.checkTables(report)
	if err := s.state.judgeInvalid(s.Spare); err != nil {
		report(err)
	}
	return nil
}

// checkTables checks all records, if bbolt can be trusted with the tables.
func (s *scanner) checkTables(report func(error)) {
	if s.tables == nil {
		return
	}
	if err := safely(func() error { return s.tables.check(report) }); err != nil {
		report(err)
	}
}

// check checks all records.
func (r *reader) check(report func(error)) error {
	var pets, want [len(petTables)]int64 // the number of pets in each table: found, and expected
	complete := true
	for i := range petTables {
		for b, err := range r.blocks(i) {
			if err != nil {
				report(err)
				complete = false
				break
			}
			pets[i] += int64(b.n)
			for j := 0; i == 0 && j < b.n; j++ {
				pet, err := decodePet(b.records(j, j+1))
				if err != nil || pet.ID != b.id(j) || pet.Validate() != nil {
					report(damaged("the record of the pet %d holds something else", b.id(j)))
				}
				want[petTableOf(pet.Status)]++
			}
		}
	}
	want[0] = r.state.lastPet()
	if complete && pets != want {
		report(damaged("the tables of all pets and of each status hold %d pets, want %d", pets, want))
	}

	for _, err := range r.messages() {
		if err != nil {
			report(err)
		}
	}

	for i, b := range r.buckets.once {
		t, sum := &onceTables[i], int64(0)
		err := b.ForEach(func(key, value []byte) error {
			_, err := openOutcome(t, key, value)
			if err == nil {
				sum += storedSum(value)
			}
			return err
		})
		if err == nil && sum != r.state.OnceSums[i] {
			err = damaged("%s does not hold the outcomes that were stored last", t.name)
		}
		if err != nil {
			report(err)
		}
	}

	return r.tx.ForEach(func(name []byte, _ *bbolt.Bucket) error {
		if !slices.ContainsFunc(tables, func(t table) bool { return bytes.Equal(t.name, name) }) {
			return damaged("unknown bucket %q", name)
		}
		return nil
	})
}
