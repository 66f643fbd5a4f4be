package etcdstore

import (
	"context"
	"slices"

	"example.com/animalstore/petstore"
)

// large reports whether pets may be more than a list page holds, or whether one
// has a long name, which is not read yet.
func large(pets []record) bool {
	size := 0
	for _, r := range pets {
		size += 6*len(r.name) + recordOverhead // a byte of a name takes at most 6 bytes of JSON
		if r.size > 0 {
			return true
		}
	}
	return size >= petstore.MaxPageBytes
}

// names ends a list page where it reaches petstore.MaxPageBytes, and reads the
// long names of its pets.
func (s *Store) names(ctx context.Context, pets *[]record, more *bool) error {
	if !large(*pets) {
		return nil
	}
	size := 0
	var keys []string
	var long []int
	for i, r := range *pets {
		if size >= petstore.MaxPageBytes {
			*pets, *more = slices.Clip((*pets)[:i]), true
			break
		}
		if r.size == 0 {
			json, err := r.pet().AppendJSON(nil)
			if err != nil {
				return damaged("the pet %d: %v", r.id, err)
			}
			size += len(json)
			continue
		}
		size += r.size
		keys, long = append(keys, numbered(nameKey, r.id)), append(long, i)
	}
	if len(keys) == 0 {
		return nil
	}
	kvs, err := s.fetch(ctx, keys)
	if err != nil {
		return err
	}
	for i, kv := range kvs {
		if err := (*pets)[long[i]].setName(kv.Value); err != nil {
			return err
		}
	}
	return nil
}
