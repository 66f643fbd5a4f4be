package storage

import (
	"cmp"
	"errors"
	"fmt"
	"io"
)

// Check reads every record in the file at path, as [Export] does, and calls
// onDamage with each damage that it finds. onDamage may be nil. The error wraps [ErrDamaged]
// and names the first damage, if there is any.
//
// Check changes nothing, and needs little memory for any file. It does not see
// everything: not a damaged page that nothing refers to, nor every damaged key that leads to
// a page, nor an older version of a page that is consistent in itself, nor that the outcome
// of a create with a petstore.IdempotencyKey is missing.
//
// Any other error says that the file cannot be checked: it is in use ([ErrLocked]; on
// Windows that is not noticed), is not a petstore ([ErrNotPetstore]), is from a newer
// release ([ErrNewer]), or cannot be read.
func Check(path string, onDamage func(error)) error {
	var first error
	damage := func(err error) {
		first = cmp.Or(first, err)
		if onDamage != nil {
			onDamage(err)
		}
	}
	err := exportFile(path, newExporter(io.Discard, damage))
	if errors.Is(err, ErrDamaged) { // it ended the export, which did not call damage with it
		damage(err)
	}
	if err = cmp.Or(first, err); err != nil {
		return fmt.Errorf("checking the store %s: %w", path, err)
	}
	return nil
}
