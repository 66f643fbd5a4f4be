package storage

import (
	"context"

	"go.etcd.io/bbolt"

	"example.com/animalstore/petstore"
)

// ListPets implements petstore.Service.
func (s *Store) ListPets(ctx context.Context, q petstore.ListQuery) (page petstore.Page, err error) {
	q, after, err := parseQuery(q)
	if err != nil {
		return petstore.Page{}, err
	}
	r, err := s.read(ctx)
	if err != nil {
		return petstore.Page{}, err
	}
	defer r.done(&err)
	w := r.walk(q, after)
	var pets []petstore.Pet
	for w.more() {
		record, err := w.next(1)
		if err != nil {
			return petstore.Page{}, err
		}
		pet, err := decodePet(record)
		if err != nil {
			return petstore.Page{}, err
		}
		pets = append(pets, pet)
	}
	return petstore.Page{Pets: pets, Next: w.cursor()}, nil
}

// AppendPage implements petstore.EncodedReader.
func (s *Store) AppendPage(ctx context.Context, dst []byte, q petstore.ListQuery) (_ []byte, _ petstore.Cursor, err error) {
	q, after, err := parseQuery(q)
	if err != nil {
		return dst, "", err
	}
	r, err := s.read(ctx)
	if err != nil {
		return dst, "", err
	}
	defer r.done(&err)
	w := r.walk(q, after)
	b := append(dst, '[')
	for w.more() {
		records, err := w.next(q.Limit)
		if err != nil {
			return dst, "", err
		}
		if len(b) > len(dst)+1 {
			b = append(b, ',')
		}
		b = append(b, records...)
	}
	return append(b, ']'), w.cursor(), nil
}

// parseQuery returns q with its defaults, and the ID that it goes on after.
func parseQuery(q petstore.ListQuery) (petstore.ListQuery, int64, error) {
	q, err := q.Normalize()
	if err != nil {
		return q, 0, err
	}
	after, err := q.After.ID()
	return q, after, err
}

// list is a table of pets, with what proves a walk through it complete: the
// highest ID in it, while each block has the ID before it.
type list struct {
	table  *table
	blocks *bbolt.Cursor
	last   int64 // the highest ID in the table, 0 if there is none
	key    *[8]byte
}

func (r *reader) list(s petstore.Status) list {
	if s == "" {
		return list{&petTable, r.pets, r.state.lastPet, &r.key}
	}
	i := statusIndex(s)
	return list{&statusTables[i], r.status[i], r.state.last[i], &r.key}
}

// walk is a walk through the pets of a page.
type walk struct {
	list
	id    int64 // of the last pet seen; at first the one to go on after
	left  int   // how many may follow
	size  int   // of the JSON seen
	block block // that the walk is in
	i     int   // the next pet in it
}

func (r *reader) walk(q petstore.ListQuery, after int64) walk {
	return walk{list: r.list(q.Status), id: after, left: q.Limit}
}

// more reports whether the page has another pet.
func (w *walk) more() bool {
	return w.id < w.last && w.left > 0 && w.size < petstore.MaxPageBytes
}

// cursor returns where the next page starts, "" if there is none.
func (w *walk) cursor() petstore.Cursor {
	if w.id < w.last {
		return petstore.CursorAfter(w.id)
	}
	return ""
}

// next returns the JSON of the next pet, which there has to be, and of
// others behind it, with commas between them; most of them together.
func (w *walk) next(most int) ([]byte, error) {
	if err := w.advance(); err != nil {
		return nil, err
	}
	i, j := w.i, min(w.i+min(most, w.left), w.block.n)
	size := func(j int) int { return w.block.end(j-1) - w.block.start(i) - (j - i - 1) }
	for j > i+1 && w.size+size(j-1) >= petstore.MaxPageBytes {
		j-- // the page has reached its size before this one
	}
	w.i = j
	w.id = w.block.id(j - 1)
	w.left -= j - i
	w.size += size(j)
	return w.block.records(i, j), nil
}

// advance makes sure that w.i is a pet's place in w.block.
func (w *walk) advance() (err error) {
	if w.block.n == 0 {
		if w.block, err = seekBlock(w.table, w.blocks, w.key, w.id+1); err != nil {
			return err
		}
		if w.i = w.block.search(w.id + 1); w.i == 0 && w.block.prev > w.id {
			return damaged("%s has nothing from %d to %d", w.table.name, w.id, w.block.prev)
		}
	}
	if w.i < w.block.n {
		return nil
	}
	end := w.block.last()
	key, value := w.blocks.Next()
	if key == nil {
		return damaged("%s ends at %d and not at %d", w.table.name, end, w.last)
	}
	if w.block, err = openBlock(w.table, key, value); err != nil {
		return err
	}
	if w.block.prev != end || w.block.first <= w.id { // the second would have pages go round
		return damaged("%s goes from %d to %d and leaves out %d", w.table.name, end, w.block.first, w.block.prev)
	}
	w.i = 0
	return nil
}
