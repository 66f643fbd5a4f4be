package storage

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
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

// Check reads every record in the file at path, and calls onDamage, unless it is nil, with each
// damage that it finds. The error wraps [ErrDamaged] and names the first damage, if there is any.
//
// Check changes nothing. It needs little memory for any file, and ends for any. It does not see
// everything: not a damaged page that nothing refers to, nor every damaged key that leads to
// a page, nor every damaged length of a page, nor a page in use that is listed as free, nor an
// older version of a page that is consistent in itself, nor that the outcome of a create with a
// petstore.IdempotencyKey is missing.
//
// Any other error says that the file cannot be checked: it is in use ([ErrLocked]; on
// Windows that is not noticed), is not a petstore ([ErrNotPetstore]), is from a newer
// release ([ErrNewer]), or cannot be read.
func Check(path string, onDamage func(error)) error {
	r := fileReader{onDamage: onDamage, out: lines.NewWriter(io.Discard)}
	err := r.readFile(path)
	return fileError("checking", path, cmp.Or(r.first, err))
}

// Export writes what the file at path holds to w, as [Store.Export] does. It reads the file as
// [Check] does, and has its errors. It changes nothing.
func Export(path string, w io.Writer) error {
	out := bufio.NewWriter(w) // keeps its first error
	r := fileReader{out: lines.NewWriter(out), outcomes: true}
	err := cmp.Or(r.readFile(path), out.Flush())
	return fileError("exporting from", path, cmp.Or(r.first, err))
}

// Salvage writes what is left of the file at path to w, for [Import]: each pet and each queued
// message whose record is sound, if a sound page leads to it. It calls onDamage, unless it is
// nil, with each damage that it skips, and changes nothing. Its errors are those of [Check], but
// for [ErrDamaged], which says that nothing can be saved.
//
// It writes no outcomes of idempotency keys, so a creation that is repeated after the import
// is carried out again. If the state, a meta page or the freelist is damaged, or the file was cut
// short, an earlier state may have been read. Then the store issues no ID up to 1,024 above the
// highest one that is known.
func Salvage(path string, w io.Writer, onDamage func(error)) (Totals, error) {
	out := bufio.NewWriter(w)
	r := fileReader{onDamage: onDamage, out: lines.NewWriter(out)}
	err := cmp.Or(r.readFile(path), out.Flush())
	return Totals(r.out.Counts), fileError("reading", path, err)
}

// fileReader reads all tables of a file. It reports and skips what is damaged.
type fileReader struct {
	onDamage func(error) // nil: damage is not reported
	out      *lines.Writer
	outcomes bool // write them, too

	pages
	roots map[string][]byte // of the tables
	first error             // of the damages
}

func (r *fileReader) damage(err error) {
	r.first = cmp.Or(r.first, err)
	if r.onDamage != nil {
		r.onDamage(err)
	}
}

// readFile reads all tables, and writes their records. Its error says why nothing was read, or is
// of the writer.
func (r *fileReader) readFile(path string) (err error) {
	if r.file, err = openLocked(path, os.O_RDONLY); err != nil {
		return err
	}
	defer r.file.Close()
	r.meta, err = inspect(r.file)
	sound := err == nil
	switch {
	case errors.Is(err, ErrDamaged):
		r.damage(err)
	case err != nil:
		return err
	}
	if err = r.readRoot(); err != nil {
		return err
	}
	var st state
	r.table(&stateTable, func(rec record) { st, err = openState(rec.value) })
	if err != nil {
		return err
	}
	if st.Schema == 0 && r.first == nil {
		r.damage(damaged("the state is missing"))
	}
	for id, json := range r.allPets(&st) {
		_ = r.out.Pet(json)
		st.LastPet = max(st.LastPet, id)
	}
	whole := r.table(&queueTable, func(rec record) {
		m := messageOf(rec.key, rec.value)
		_ = r.out.Message(&m)
		st.LastMessage = max(st.LastMessage, int64At(rec.key))
	})
	if err := st.checkQueued(r.out.Messages); err != nil && whole && st.Schema > 0 {
		r.damage(err)
	}
	now := time.Now().UnixMicro()
	r.table(&outcomeTable, func(rec record) {
		if o := outcomeOf(rec.key, rec.value); r.outcomes && !o.Expired(now) {
			_ = r.out.Outcome(o)
		}
	})
	if r.outcomes && r.first != nil {
		return nil // without an end, so that no import accepts it; Export returns the damage
	}
	if !sound || st.Schema == 0 { // the last commits may be missing, and the IDs that they issued
		st.LastPet = min(st.LastPet, math.MaxInt64-maxWaiting) + maxWaiting
		st.LastMessage = min(st.LastMessage, math.MaxInt64-maxWaiting) + maxWaiting
	}
	return r.out.End(st.LastPet, st.LastMessage)
}

// allPets yields each pet of petTables once, in order: one that is damaged in the table of all
// pets may be sound in that of its status.
func (r *fileReader) allPets(st *state) iter.Seq2[int64, []byte] {
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
func (r *fileReader) pets(i int, st *state) iter.Seq2[int64, []byte] {
	return func(yield func(int64, []byte) bool) {
		t, last := &petTables[i], int64(0)
		whole := r.table(t, func(rec record) {
			b := blockOf(rec.value)
			if b.prev != last && rec.follows {
				r.damage(damaged("%s has a gap after %d", t.name, last))
			}
			for last = b.last; b.pets() > 0 && yield(b.next()); {
			}
		})
		if st.Schema > 0 && last != st.LastIDs[i] && whole {
			r.damage(damaged("%s ends at %d, want %d", t.name, last, st.LastIDs[i]))
		}
	}
}

// table calls use with each sound record of a table, in ascending order of keys. It reports
// whether there was no damage.
func (r *fileReader) table(t *table, use func(record)) (whole bool) {
	root := r.roots[string(t.name)]
	if root == nil {
		r.damage(damaged("the bucket %s is missing", t.name))
		return false
	}
	// A bucket is its root page and a counter or, if it is small, has the page here.
	page, err := root[16:], error(nil)
	if id := native.Uint64(root); id != 0 {
		page, err = r.read(id)
	}
	if err != nil {
		r.damage(err)
		return false
	}
	var last []byte
	whole, follows := true, true
	r.walk(page, nil, nil, func(rec record, err error) {
		if err == nil {
			rec.value, err = t.open(rec.key, rec.value)
		}
		switch {
		case err != nil:
		case last != nil && bytes.Compare(rec.key, last) <= 0, rec.high != nil && bytes.Compare(rec.key, rec.high) >= 0:
			err = damaged("%s is out of order", t.describe(rec.key))
		case bytes.Compare(rec.key, rec.low) < 0, rec.flags != 0:
			r.damage(damaged("%s is out of reach", t.describe(rec.key))) // but sound
		}
		rec.follows, follows = follows, err == nil
		if err != nil {
			whole = false
			r.damage(err)
			return
		}
		last = rec.key
		use(rec)
	})
	return whole
}

// readRoot finds the tables.
func (r *fileReader) readRoot() error {
	r.roots, r.seen = make(map[string][]byte), make(map[uint64]bool)
	page, err := r.read(r.meta.root)
	if err != nil {
		r.damage(err)
		return err
	}
	r.walk(page, nil, nil, func(rec record, err error) {
		if err != nil {
			r.damage(err)
		} else if len(rec.value) >= 16 {
			r.roots[string(rec.key)] = rec.value
			if rec.flags != 1 {
				r.damage(damaged("%s is not a bucket", rec.key))
			}
		}
	})
	return anyTable(func(t table) bool { return r.roots[string(t.name)] != nil })
}
