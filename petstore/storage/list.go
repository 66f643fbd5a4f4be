package storage

import (
	"context"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore"
)

// ListPets implements petstore.Service.
func (s *Store) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	b, next, err := s.AppendPage(ctx, nil, q)
	if err != nil || string(b) == "[]" {
		return petstore.Page{}, err
	}
	page := petstore.Page{Next: next}
	if err := json.Unmarshal(b, &page.Pets); err != nil {
		return petstore.Page{}, damaged("a record is not a pet: %v", err)
	}
	return page, nil
}

// AppendPage implements petstore.EncodedReader.
func (s *Store) AppendPage(ctx context.Context, dst []byte, q petstore.ListQuery) ([]byte, petstore.Cursor, error) {
	q, err := q.Normalize()
	if err != nil {
		return dst, "", err
	}
	after, err := q.After.ID()
	if err != nil {
		return dst, "", err
	}
	b, next := dst, petstore.Cursor("")
	err = s.view(ctx, func(t *transaction) (err error) {
		b, next, err = t.appendPage(dst, petTableOf(q.Status), after, q.Limit)
		return err
	})
	if err != nil {
		return dst, "", err
	}
	return b, next, nil
}

// appendPage appends to dst, as a JSON array, the pets of petTables[i] after an ID:
// at most limit, and none after the one with which they reach
// petstore.MaxPageBytes. It returns the cursor of the next page.
func (t *transaction) appendPage(dst []byte, i int, after int64, limit int) ([]byte, petstore.Cursor, error) {
	dst = append(dst, '[')
	size := 0
	for b, err := range t.blocks(i, after) {
		if err != nil {
			return nil, "", err
		}
		if size > 0 {
			dst = append(dst, ',')
		}
		from := b.search(after + 1)
		to := min(from+limit, b.n)
		for to > from+1 && size+b.size(from, to-1) >= petstore.MaxPageBytes {
			to-- // without this one the page has reached its size
		}
		dst = append(dst, b.records(from, to)...)
		after = b.id(to - 1)
		size += b.size(from, to)
		if limit -= to - from; limit == 0 || size >= petstore.MaxPageBytes {
			break
		}
	}
	dst = append(dst, ']')
	if after < t.LastIDs[i] {
		return dst, petstore.CursorAfter(after), nil
	}
	return dst, "", nil
}
