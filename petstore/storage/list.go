package storage

import (
	"context"
	"iter"

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
	table := petTableOf(q.Status)
	last := r.state.LastIDs[table]
	dst = append(dst, '[')
	var b block
	for remaining, size := q.Limit, 0; id < last; {
		if b, err = r.nextBlock(table, b, id); err != nil {
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
		if id < last {
			dst = append(dst, ',')
		}
	}
	dst = append(dst, ']')
	if id < last {
		return dst, petstore.CursorAfter(id), nil
	}
	return dst, "", nil
}

// blocks yields the blocks of petTables[i], in order, and ends after the first
// error.
func (r *reader) blocks(i int) iter.Seq2[block, error] {
	return func(yield func(block, error) bool) {
		var b block
		var err error
		for id := int64(0); id < r.state.LastIDs[i] && err == nil; id = b.lastID() {
			if b, err = r.nextBlock(i, b, id); !yield(b, err) {
				return
			}
		}
		if err == nil {
			if _, err = openLastBlock(&petTables[i], r.cursors[i], r.state.LastIDs[i]); err != nil {
				yield(block{}, err)
			}
		}
	}
}

// nextBlock returns the block of petTables[i] with the first pet after id, which
// must exist. b is the block that ends at id, or an empty one at the start. A
// list is complete because each block has the ID before it, and the state has
// the last one.
func (r *reader) nextBlock(i int, b block, id int64) (block, error) {
	t := &petTables[i]
	if b.n == 0 {
		b, err := r.seekBlock(i, id+1)
		switch {
		case err == nil && b.prev > id:
			return b, damaged("%s has nothing from %d to %d", t.name, id, b.prev)
		case err == nil && b.lastID() <= id:
			return r.nextBlock(i, b, id)
		}
		return b, err
	}
	key, value := r.cursors[i].Next()
	if key == nil {
		return b, damaged("%s ends at %d, want %d", t.name, b.lastID(), r.state.LastIDs[i])
	}
	next, err := openBlock(t, key, value)
	if err == nil && (next.prev != b.lastID() || next.first <= id) { // so that no cycle of pages is read without end
		err = damaged("the block %d of %s follows %d, want %d", next.first, t.name, b.lastID(), next.prev)
	}
	return next, err
}
