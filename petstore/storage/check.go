package storage

import (
	"cmp"
	"errors"
	"fmt"

	"example.com/animalstore/petstore/internal/stores"
)

// Check reads every record in the file at path, and calls onDamage with each damage that it
// finds: a record that fails its checksum, a gap, a record that a lookup does not find, or a
// page that ends the reading of its table. onDamage may be nil. The error wraps [ErrDamaged]
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
	damage := func(err error) error {
		if !errors.Is(err, ErrDamaged) {
			return err
		}
		first = cmp.Or(first, err)
		if onDamage != nil {
			onDamage(err)
		}
		return nil
	}
	err := damage(check(path, damage)) // after damage that it cannot go on from
	if err = cmp.Or(first, err); err != nil {
		return fmt.Errorf("checking the store %s: %w", path, err)
	}
	return nil
}

// check calls damage with each damage, and with nil. It goes on if that returns nil.
func check(path string, damage func(error) error) error {
	return readFile(path, damage, func(tx *transaction) error {
		var parts []func() error
		for i := range petTables {
			parts = append(parts, func() error { return tx.checkBlocks(i, damage) })
		}
		parts = append(parts, func() error {
			for m, err := range tx.messages(0) {
				if err == nil {
					n, _ := stores.ParseMessageID(m.ID)
					err = tx.table(&queueTable).reachable(idKey(n))
				}
				if err := damage(err); err != nil {
					return err
				}
			}
			return nil
		}, tx.countMessages, func() error {
			b := tx.table(&outcomeTable)
			return b.ForEach(func(k, v []byte) error {
				_, err := b.open(k, v)
				if err == nil {
					err = b.reachable(k)
				}
				return damage(err)
			})
		})
		for _, part := range parts {
			if err := damage(safely(part)); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkBlocks calls damage with each block of petTables[i] that is damaged or does not
// follow the one before.
func (tx *transaction) checkBlocks(i int, damage func(error) error) error {
	const unknown = -1
	t, c := tx.pets[i].table, tx.pets[i].Cursor()
	last := int64(0) // the last ID of the block before
	for k, v := c.First(); k != nil; k, v = c.Next() {
		b, err := openBlock(t, k, v)
		if err == nil && last != unknown && (b.prev != last || b.last <= last) {
			err = damaged("%s has a gap after %d", t.name, last)
		}
		if err == nil {
			err = tx.pets[i].reachable(k)
		}
		if err == nil && b.pets() > 1 {
			_, err = tx.pet(i, b.id(1)) // which has no key of its own
		}
		if last = b.last; last == 0 { // the block could not be opened
			last = unknown
		}
		if err := damage(err); err != nil {
			return err
		}
	}
	if tx.known() && last != unknown && last != tx.LastIDs[i] {
		return damage(damaged("%s has a gap after %d", t.name, last))
	}
	return nil
}
