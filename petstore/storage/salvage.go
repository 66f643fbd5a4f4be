package storage

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"
	"time"

	"example.com/animalstore/petstore/storage/internal/lines"
)

// Totals counts what [Salvage] has written, or what an import has stored.
type Totals struct {
	Pets, Messages, Outcomes int64
}

// Salvage writes what is left of the file at path to w, for [Import]: each pet and each queued
// message whose record is sound, if a page leads to it. It calls onDamage with each damage
// that it skips, and changes nothing. Its errors are those of [Check], but for [ErrDamaged],
// which says that nothing can be saved.
//
// It writes no outcomes of idempotency keys, so a creation that is repeated after the import
// is carried out again. As the last commits may be missing, the store issues no ID
// up to 1,024 above the highest one that is known.
func Salvage(path string, w io.Writer, onDamage func(error)) (Totals, error) {
	out := bufio.NewWriter(w) // keeps its first error
	r := salvager{onDamage: onDamage, out: lines.NewWriter(out)}
	err := cmp.Or(r.readFile(path), out.Flush())
	if err != nil {
		err = fmt.Errorf("reading the store %s: %w", path, err)
	}
	return Totals(r.out.Counts), err
}

// Check reads every record in the file at path, as [Salvage] does, and calls
// onDamage with each damage that it finds. onDamage may be nil. The error wraps [ErrDamaged]
// and names the first damage, if there is any.
//
// Check changes nothing. It needs little memory for any file, and ends for any. It does not see
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
	_, err := Salvage(path, io.Discard, damage)
	if errors.Is(err, ErrDamaged) {
		damage(err)
	}
	if err = cmp.Or(first, err); err != nil {
		return fmt.Errorf("checking the store %s: %w", path, err)
	}
	return nil
}

// salvager reads the pages of a file without bbolt, which panics on damaged ones, or follows
// them in circles. It reports and skips what is damaged.
type salvager struct {
	onDamage func(error)
	out      *lines.Writer

	file    *os.File
	meta    meta
	seen    []bool            // which branch pages were read: no circle of them is endless
	roots   map[string][]byte // of the tables
	damages int
}

func (r *salvager) damage(err error) {
	r.damages++
	r.onDamage(err)
}

// readFile reads all tables, and writes the pets and the queue.
func (r *salvager) readFile(path string) (err error) {
	if r.file, err = openLocked(path, os.O_RDONLY); err != nil {
		return err
	}
	defer closeUnmapped(r.file)
	if r.meta, err = inspect(r.file); errors.Is(err, ErrDamaged) {
		r.damage(err)
	} else if err != nil {
		return err
	}
	if err := r.readRoot(); err != nil {
		return err
	}
	var st state
	var otherSchema error
	r.table(&stateTable, func(_, body []byte) { st, otherSchema = openState(body) })
	if otherSchema != nil {
		return otherSchema
	}
	if st.Schema == 0 && r.damages == 0 {
		r.damage(damaged("the state is missing"))
	}
	for id, json := range r.allPets(&st) {
		_ = r.out.Pet(json)
		st.LastPet = max(st.LastPet, id)
	}
	before := r.damages
	r.table(&queueTable, func(key, body []byte) {
		m := messageOf(key, body)
		_ = r.out.Message(&m)
		st.LastMessage = max(st.LastMessage, int64At(key))
	})
	if err := st.checkQueued(r.out.Messages); err != nil && st.Schema > 0 && r.damages == before {
		r.damage(err)
	}
	r.table(&outcomeTable, func(_, _ []byte) {})
	above := func(last int64) int64 { return min(last, math.MaxInt64-maxWaiting) + maxWaiting }
	return r.out.End(above(st.LastPet), above(st.LastMessage), time.Now())
}

// allPets yields each pet of petTables once, in order: one that is damaged in the table of all
// pets may be sound in that of its status.
func (r *salvager) allPets(st *state) iter.Seq2[int64, []byte] {
	return func(yield func(int64, []byte) bool) {
		var next [4]func() (int64, []byte, bool)
		var ids [4]uint64 // of the next pet in each table; MaxUint64: the table has ended
		var pets [4][]byte
		for i := range next {
			var stop func()
			next[i], stop = iter.Pull2(r.pets(i, st))
			defer stop()
		}
		for id := uint64(0); ; {
			for i := range next { // take the next pet of the tables that had the last one
				if ids[i] != id {
					continue
				}
				found, json, ok := next[i]()
				if ids[i], pets[i] = uint64(found), json; !ok {
					ids[i] = math.MaxUint64
				}
			}
			if id = slices.Min(ids[:]); id == math.MaxUint64 || !yield(int64(id), pets[slices.Index(ids[:], id)]) {
				return
			}
		}
	}
}

// pets yields the pets of petTables[i], whose end the state has.
func (r *salvager) pets(i int, st *state) iter.Seq2[int64, []byte] {
	return func(yield func(int64, []byte) bool) {
		r := *r // counts the damages of this table: others are read meanwhile
		t, last, before := &petTables[i], int64(0), r.damages
		r.table(t, func(_, body []byte) {
			b := blockOf(body)
			if b.prev != last && r.damages == before {
				r.damage(damaged("%s has a gap after %d", t.name, last))
			}
			last, before = b.last, r.damages
			for b.pets() > 0 && yield(b.next()) {
			}
		})
		if st.Schema > 0 && last != st.LastIDs[i] && r.damages == before {
			r.damage(damaged("%s ends at %d, want %d", t.name, last, st.LastIDs[i]))
		}
	}
}

// table calls use with each sound record of a table, in ascending order of keys.
func (r *salvager) table(t *table, use func(key, body []byte)) {
	root := r.roots[string(t.name)]
	if root == nil {
		r.damage(damaged("the bucket %s is missing", t.name))
		return
	}
	// A bucket is its root page and a counter or, if it is small, has the page here.
	page, err := root[16:], error(nil)
	if id := native.Uint64(root); id != 0 {
		page, err = r.read(id)
	}
	if err != nil {
		r.damage(err)
		return
	}
	var last []byte
	r.walk(page, nil, nil, func(key, value, low, high []byte) {
		body, err := t.open(key, value)
		switch {
		case err != nil:
		case last != nil && bytes.Compare(key, last) <= 0, high != nil && bytes.Compare(key, high) >= 0:
			err = damaged("%s is out of order", t.describe(key))
		case bytes.Compare(key, low) < 0:
			r.damage(damaged("%s is out of reach", t.describe(key))) // but sound
		}
		if err != nil {
			r.damage(err)
			return
		}
		last = key
		use(key, body)
	})
}

// readRoot finds the tables.
func (r *salvager) readRoot() error {
	r.roots, r.seen = make(map[string][]byte), make([]bool, r.meta.pages)
	page, err := r.read(r.meta.root)
	if err != nil {
		return err
	}
	r.walk(page, nil, nil, func(key, value, _, _ []byte) {
		if len(value) >= 16 {
			r.roots[string(key)] = value
		}
	})
	return anyTable(func(t table) bool { return r.roots[string(t.name)] != nil })
}

// read reads a page.
func (r *salvager) read(id uint64) ([]byte, error) {
	if id >= r.meta.pages {
		return nil, damaged("a key leads to page %d, which is not in the file", id)
	}
	page := make([]byte, r.meta.pageSize)
	_, err := r.file.ReadAt(page, int64(id)*r.meta.pageSize)
	if err == nil && native.Uint64(page) != id {
		err = errors.New("its header is of another page")
	}
	if more := int64(native.Uint32(page[12:])) * r.meta.pageSize; err == nil && more > 0 { // a long record
		if more > 4*lines.MaxLine { // bbolt keeps at most four of them together
			return nil, damaged("page %d cannot be read: it is too long", id)
		}
		page = make([]byte, r.meta.pageSize+more)
		_, err = r.file.ReadAt(page, int64(id)*r.meta.pageSize)
	}
	if err != nil {
		return nil, damaged("page %d cannot be read: %v", id, err)
	}
	return page, nil
}

// walk calls visit with each record below a page, whose keys should be from low to below high;
// nil: there is no bound.
func (r *salvager) walk(page, low, high []byte, visit func(key, value, low, high []byte)) {
	if len(page) < pageHeaderLen {
		r.damage(damaged("a page is too short"))
		return
	}
	id, flags, n := native.Uint64(page), native.Uint16(page[8:]), int(native.Uint16(page[10:]))
	if flags != branchFlag && flags != leafFlag || pageHeaderLen+elementLen*n > len(page) {
		r.damage(damaged("page %d is not one of a table", id))
		return
	}
	if flags == branchFlag {
		if id >= r.meta.pages || r.seen[id] {
			r.damage(damaged("two keys lead to page %d", id))
			return
		}
		r.seen[id] = true
	}
	for i := range n {
		key, value := element(page, i)
		if key == nil {
			r.damage(damaged("the key %d of page %d is not in it", i, id))
		}
		if flags == leafFlag {
			if key != nil {
				visit(key, value, low, high)
			}
			continue
		}
		next := high
		if i+1 < n {
			next, _ = element(page, i+1)
		}
		child, err := r.read(native.Uint64(page[pageHeaderLen+elementLen*i+8:]))
		if err != nil {
			r.damage(err)
			continue
		}
		r.walk(child, key, next, visit)
	}
}

// element returns the key of the i-th element of a page and, in a leaf page, its value. They
// are nil if they are not in the page.
func element(page []byte, i int) (key, value []byte) {
	e := page[pageHeaderLen+elementLen*i:]
	at, keyLen, valueLen := native.Uint32(e), native.Uint32(e[4:]), uint32(0)
	if native.Uint16(page[8:]) == leafFlag { // the first four bytes are flags
		at, keyLen, valueLen = keyLen, native.Uint32(e[8:]), native.Uint32(e[12:])
	}
	if uint64(at)+uint64(keyLen)+uint64(valueLen) > uint64(len(e)) {
		return nil, nil
	}
	e = e[at:]
	return e[:keyLen:keyLen], e[keyLen : keyLen+valueLen]
}
