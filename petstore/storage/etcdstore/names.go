package etcdstore

import (
	"context"
	"slices"

	"example.com/animalstore/petstore"
)

// large reports whether records can be more than a page holds, or lack a name.
func large(animals []record) bool {
	size := 0
	for _, r := range animals {
		size += 6*len(r.name) + recordOverhead // a character has 6 bytes of JSON at the most
		if r.size > 0 {
			return true
		}
	}
	return size >= petstore.MaxPageBytes
}

// names ends a page where it has reached its size, and reads the long names of
// the animals in it.
func (s *Store) names(ctx context.Context, animals *[]record, more *bool) error {
	if !large(*animals) {
		return nil
	}
	size := 0
	var keys []string
	var long []int
	for i, r := range *animals {
		if size >= petstore.MaxPageBytes {
			*animals, *more = slices.Clip((*animals)[:i]), true
			break
		}
		if r.size == 0 {
			json, err := r.pet().AppendJSON(nil)
			if err != nil {
				return damaged("the animal %d: %v", r.id, err)
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
		if err := (*animals)[long[i]].setName(kv.Value); err != nil {
			return err
		}
	}
	return nil
}
