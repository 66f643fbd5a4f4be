package storage

import "fmt"

// Check reads every record in the file at path and returns the first damage that it
// finds, an error that wraps [ErrDamaged]: a record that fails its checksum, or a gap.
// Check changes nothing, and needs little memory for any file. It does not see
// everything: not a damaged page that nothing refers to, nor an older version of a page
// that is consistent in itself, nor that the outcome of a create with a
// petstore.IdempotencyKey is missing.
//
// Any other error says that the file cannot be checked: it is in use ([ErrLocked]; on
// Windows that is not noticed), is not a petstore ([ErrNotPetstore]), is from a newer
// release ([ErrNewer]), or cannot be read.
func Check(path string) error {
	if err := check(path); err != nil {
		return fmt.Errorf("checking the store %s: %w", path, err)
	}
	return nil
}

func check(path string) error {
	stop := func(err error) error { return err }
	return readFile(path, stop, func(tx *transaction) error {
		for i := range petTables {
			for _, err := range tx.blocks(i, 0) {
				if err != nil {
					return err
				}
			}
		}
		for _, err := range tx.messages() {
			if err != nil {
				return err
			}
		}
		for i := range outcomeTables {
			t := &outcomeTables[i]
			err := tx.table(t).ForEach(func(k, v []byte) error {
				_, err := t.open(k, v)
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}
