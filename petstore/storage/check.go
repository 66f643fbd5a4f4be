package storage

import (
	"fmt"
	"os"

	"go.etcd.io/bbolt"
)

// Check reads every record in the file at path, compares the tables, and returns the
// first damage that it finds, an error that wraps [ErrDamaged]. Check changes nothing,
// and needs little memory for any file. It does not see everything: not a damaged page
// that nothing refers to, nor an older version of a page that is consistent in itself.
//
// Any other error says that the file cannot be checked: it is in use ([ErrLocked]; on
// Windows that is not noticed), is not a petstore ([ErrForeign]), is from a newer
// release ([ErrNewer]), or cannot be read.
func Check(path string) error {
	if err := check(path); err != nil {
		return fmt.Errorf("checking the store %s: %w", path, err)
	}
	return nil
}

func check(path string) error {
	stop := func(err error) error { return err }
	return readFile(path, stop, func(t *transaction) error {
		return safely(func() error {
			for _, check := range []func() error{t.checkPets, t.checkMessages, t.checkOutcomes} {
				if err := check(); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// checkPets reads all pets, and makes sure that the table of each status has those with
// that status.
func (t *transaction) checkPets() error {
	var pets, want [len(petTables)]int64 // the number of pets in each table: found, and expected
	for i := range petTables {
		for b, err := range t.blocks(i, 0) {
			if err != nil {
				return err
			}
			pets[i] += int64(b.n)
			for j := 0; i == 0 && j < b.n; j++ {
				pet, err := decodePet(b.records(j, j+1))
				if err != nil || pet.ID != b.id(j) || pet.Validate() != nil {
					return damaged("the record of the pet %d holds something else", b.id(j))
				}
				want[petTableOf(pet.Status)]++
			}
		}
		if _, err := t.openLastBlock(i); err != nil {
			return err
		}
	}
	want[0] = t.LastIDs[0]
	if pets != want {
		return damaged("the tables of all pets and of each status hold %d pets, want %d", pets, want)
	}
	return nil
}

func (t *transaction) checkMessages() error {
	for _, err := range t.messages() {
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *transaction) checkOutcomes() error {
	for i, b := range t.outcomes {
		count := int64(0)
		err := b.ForEach(func(k, v []byte) error {
			count++
			_, err := openOutcome(b.table, k, v)
			return err
		})
		if err != nil {
			return err
		}
		if count != t.OutcomeCounts[i] {
			return damaged("%s holds %d outcomes, want %d", b.name, count, t.OutcomeCounts[i])
		}
	}
	return nil
}

// readFile calls fn with the tables of a file that no store has open. It calls damage
// with why the file cannot be trusted, and goes on if that returns nil and tables can be
// read. If the state is damaged, t does not know it.
func readFile(path string, damage func(error) error, fn func(t *transaction) error) error {
	f, err := openLocked(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	m, err := inspect(f)
	if err != nil {
		err = damage(err)
	}
	if err != nil || m.pageSize == 0 { // there is no valid meta page
		f.Close()
		return err
	}
	db, err := mapFile(f, m, true, 0)
	if err != nil {
		return damage(err)
	}
	var tx *bbolt.Tx
	var t *transaction
	defer func() {
		if tx == nil {
			closeUnmapped(f)
			return
		}
		_ = tx.Rollback()
		_ = db.Close()
	}()
	err = safely(func() (err error) {
		if tx, err = db.Begin(false); err == nil {
			t, err = openTables(tx)
		}
		return err
	})
	if err != nil {
		err = damage(err)
	}
	if err != nil || t == nil {
		return err
	}
	return fn(t)
}

// known reports whether the state was read.
func (s *state) known() bool { return s.Schema != 0 }
