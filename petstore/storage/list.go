package storage

import (
	"context"

	"github.com/go-json-experiment/json"
	"go.etcd.io/bbolt"

	"example.com/animalstore/petstore"
)

// ListPets implements petstore.Service.
func (s *Store) ListPets(ctx context.Context, q petstore.ListQuery) (page petstore.Page, err error) {
	err = s.view(ctx, func(r *reader) error {
		var b []byte
		if b, page.Next, err = r.appendPage(nil, q); err != nil || string(b) == "[]" {
			return err
		}
		if err := json.Unmarshal(b, &page.Pets); err != nil {
			return damaged("a record is not a pet: %v", err)
		}
		return nil
	})
	if err != nil {
		return petstore.Page{}, err
	}
	return page, nil
}

// AppendPage implements petstore.EncodedReader.
func (s *Store) AppendPage(ctx context.Context, dst []byte, q petstore.ListQuery) ([]byte, petstore.Cursor, error) {
	b, next := dst, petstore.Cursor("")
	err := s.view(ctx, func(r *reader) (err error) {
		b, next, err = r.appendPage(dst, q)
		return err
	})
	if err != nil {
		return dst, "", err
	}
	return b, next, nil
}

// list is a table of pets at one state. A walk through it is complete if it
// ends at the last ID and each block starts after the end of the one before.
type list struct {
	table  *table
	blocks *bbolt.Cursor
	last   int64    // the highest ID in the table, 0 if there is none
	key    *[8]byte // a buffer for seekBlock
}

// list returns the list of a status, or of all pets if s is "".
func (r *reader) list(s petstore.Status) list {
	i := petTableOf(s)
	return list{petTables[i], r.cursors[i], *r.state.lastIn(i), &r.key}
}

// appendPage appends a page to dst, as a JSON array, and returns the cursor of
// the next page.
func (r *reader) appendPage(dst []byte, q petstore.ListQuery) ([]byte, petstore.Cursor, error) {
	q, err := q.Normalize()
	if err != nil {
		return nil, "", err
	}
	id, err := q.After.ID() // of the last pet before the next
	if err != nil {
		return nil, "", err
	}
	dst = append(dst, '[')
	l := r.list(q.Status)
	var b block
	for remaining, size := q.Limit, 0; id < l.last; {
		if b, err = l.next(b, id); err != nil {
			return nil, "", err
		}
		i := b.search(id + 1)
		j := min(i+remaining, b.n)
		for j > i+1 && size+b.size(i, j-1) >= petstore.MaxPageBytes {
			j-- // without this one the page has reached its size
		}
		dst = append(dst, b.records(i, j)...)
		id = b.id(j - 1)
		size += b.size(i, j)
		if remaining -= j - i; remaining == 0 || size >= petstore.MaxPageBytes {
			break
		}
		if id < l.last {
			dst = append(dst, ',')
		}
	}
	dst = append(dst, ']')
	if id < l.last {
		return dst, petstore.CursorAfter(id), nil
	}
	return dst, "", nil
}

// next returns the block with the first pet after id, which must exist. b is
// the block that ends at id, or an empty one at the start of a walk.
func (l list) next(b block, id int64) (_ block, err error) {
	if b.n == 0 {
		if b, err = seekBlock(l.table, l.blocks, l.key, id+1); err != nil {
			return b, err
		}
		if i := b.search(id + 1); i < b.n {
			if i == 0 && b.prev > id {
				return b, damaged("%s has nothing from %d to %d", l.table.name, id, b.prev)
			}
			return b, nil
		}
	}
	end := b.lastID()
	key, value := l.blocks.Next()
	if key == nil {
		return b, damaged("%s ends at %d, want %d", l.table.name, end, l.last)
	}
	if b, err = openBlock(l.table, key, value); err != nil {
		return b, err
	}
	if b.prev != end || b.first <= id { // otherwise pages could repeat without end
		return b, damaged("%s goes from %d to %d, but %d is before that", l.table.name, end, b.first, b.prev)
	}
	return b, nil
}
