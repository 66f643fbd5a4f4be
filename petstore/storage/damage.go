package storage

import (
	"errors"

	"example.com/animalstore/petstore"
)

// foundDamage makes the store refuse all changes from now on, if err says that
// the file is damaged: there may be more damage, and a write may destroy what
// can still be saved. Reads go on. The first damage found is logged, and is the
// cause of each refusal.
func (s *Store) foundDamage(err error) {
	if err == nil || !errors.Is(err, ErrDamaged) || s.failure.Load() != nil {
		return
	}
	e := &petstore.Error{
		Code:    petstore.CodeInternal,
		Message: "the store is damaged and takes no changes",
		Err:     causeOf(err),
	}
	if s.damage.CompareAndSwap(nil, e) {
		s.log.Error("damage found: all changes are refused from now on; stop the server, run refserver check, "+
			"and restore a backup or save what is left with refserver export -skip-damaged",
			"path", s.path, "damage", e.Err)
	}
}
