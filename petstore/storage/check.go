package storage

import (
	"bytes"
	"fmt"
	"iter"

	"example.com/animalstore/petstore"
)

// Check reads the whole file at path, every page and every record, and calls
// report for each damage that it finds; the error wraps [ErrDamaged] and names
// the page or the record. It changes nothing, maps nothing into memory and
// needs little of it, whatever the file holds.
//
// Check returns an error if the file cannot be judged: it is in use
// ([ErrLocked]; on systems without flock that is not seen), from a newer
// release ([ErrNewer]), or cannot be read.
func Check(path string, report func(error)) error {
	found := false
	s, err := openScanner(path, func(err error) {
		found = true
		report(err)
	})
	if s == nil {
		return checkError(err)
	}
	defer s.close()
	if s.lost {
		return nil
	}
	c := &checker{scanner: s}
	if err := c.meta(); err != nil {
		return checkError(err)
	}
	c.pets()
	c.queue()
	c.outcomes()
	for name := range s.roots {
		if !isTable(name) {
			s.report(damage("there is a bucket %q that is not known", name))
		}
	}
	if !found { // else the pages behind the damage are all unaccounted for
		s.unaccounted(func(id uint64) {
			s.report(badPage(id, "is neither in use nor on the freelist"))
		})
	}
	return nil
}

func checkError(err error) error {
	if err != nil {
		err = fmt.Errorf("checking the store: %w", err)
	}
	return err
}

func isTable(name string) bool {
	for _, t := range tables() {
		if string(t.name) == name {
			return true
		}
	}
	return false
}

// checker is the check of what the records say.
type checker struct {
	*scanner
	state state
	known bool // the state could be read
}

// sound returns the body of a record, nil for one that is damaged.
func (c *checker) sound(t *table, key, value []byte) []byte {
	body, err := t.open(key, value)
	if err != nil {
		c.report(causeOf(err))
		return nil
	}
	return body
}

// causeOf returns what was found, without what a client is told.
func causeOf(err error) error {
	if e, ok := err.(*petstore.Error); ok && e.Err != nil {
		return e.Err
	}
	return err
}

// meta checks the mark and the version, and loads the counters.
func (c *checker) meta() (err error) {
	marked := false
	c.records(metaTable.name, func(key, value []byte) {
		body := c.sound(&metaTable, key, value)
		switch {
		case body == nil:
		case bytes.Equal(key, applicationKey):
			marked = string(body) == application
		case bytes.Equal(key, schemaKey) && len(body) == 8:
			if n := int64At(body); n > schema {
				err = fmt.Errorf("%w: its schema is version %d, and this one knows %d", ErrNewer, n, schema)
			}
		case bytes.Equal(key, stateKey):
			e := error(nil)
			if c.state, e = decodeState(body); e != nil {
				c.report(causeOf(e))
				return
			}
			c.known = true
		default:
			c.report(damage("the record %q of meta makes no sense", key))
		}
	})
	if !marked {
		c.report(damage("it does not say that it is a petstore"))
	}
	if !c.known {
		c.report(damage("the counters are missing"))
	}
	if err := c.state.judgeInvalid(c.invalid); err != nil {
		c.report(err)
	}
	return err
}

// entry is a pet in a table.
type entry struct {
	id, prev int64 // prev is the ID that the table has before it
	record   []byte
	cut      bool // a damaged block is before it
}

// each calls yield for the pets of a table, those in sound blocks, until it
// returns false.
func (c *checker) each(t *table, yield func(entry) bool) {
	more, cut := true, false
	c.records(t.name, func(key, value []byte) {
		b, err := openBlock(t, key, value)
		if err != nil {
			c.report(causeOf(err))
			cut = true
			return
		}
		prev := b.prev
		for i := 0; i < b.n && more; i++ {
			more = yield(entry{b.id(i), prev, b.records(i, i+1), cut})
			prev, cut = b.id(i), false
		}
	})
}

// entries pulls the pets of a table.
type entries struct {
	checker *checker
	table   *table
	next    func() (entry, bool)
	entry         // at hand; id 0: there is none left
	last    int64 // the ID of the entry before it

	// The pets in a row that the table should have and does not.
	lacks, from, to int64
}

func (c *checker) entries(t *table) (*entries, func()) {
	e := &entries{checker: c, table: t}
	next, stop := iter.Pull(func(yield func(entry) bool) { c.each(t, yield) })
	e.next = next
	e.advance()
	return e, stop
}

// advance moves on to the next entry.
func (e *entries) advance() {
	e.last = e.id
	next, ok := e.next()
	e.entry = next // the zero one, if there is none left
	if ok && !e.cut && e.prev != e.last {
		e.checker.report(damage("%s goes from %d to %d and leaves out %d", e.table.name, e.last, e.id, e.prev))
	}
}

// pass goes past the entries below id, which are of pets that are not of
// this status, or are damaged themselves.
func (e *entries) pass(id int64, expected bool) {
	for e.id != 0 && e.id < id {
		if !expected {
			e.checker.report(damage("%s has an entry %d that is no pet of it", e.table.name, e.id))
		}
		e.advance()
	}
}

// expect takes note of whether the entry at hand is n.
func (e *entries) expect(n entry) {
	if e.id == n.id && bytes.Equal(e.record, n.record) {
		e.lacking()
		return
	}
	if e.lacks == 0 {
		e.from = n.id
	}
	e.lacks, e.to = e.lacks+1, n.id
}

// lacking reports the pets in a row that the table does not have.
func (e *entries) lacking() {
	if e.lacks > 0 {
		e.checker.report(damage("%s lacks %d pets from %d to %d", e.table.name, e.lacks, e.from, e.to))
	}
	e.lacks = 0
}

// pets checks the table of all pets, and those of their statuses
// against it.
func (c *checker) pets() {
	var byStatus [len(statusTables)]*entries
	for i := range statusTables {
		var stop func()
		byStatus[i], stop = c.entries(&statusTables[i])
		defer stop()
	}
	seen := int64(0)
	missing := func(to int64) {
		if seen+1 <= to {
			c.report(damage("the pets %d to %d are missing", seen+1, to))
			for _, e := range byStatus {
				e.pass(to+1, true)
			}
		}
	}
	c.each(&petTable, func(n entry) bool {
		if n.id <= seen {
			c.report(damage("pets has the pet %d behind %d", n.id, seen))
			return true
		}
		missing(n.id - 1)
		seen = n.id
		pet, err := decodePet(n.record)
		if err != nil || pet.ID != n.id || pet.Validate() != nil {
			c.report(damage("the record of the pet %d is not that pet's", n.id))
		}
		for i, e := range byStatus {
			e.pass(n.id, false)
			of := pet.Status != "" && statusIndex(pet.Status) == i
			if of {
				e.expect(n)
			}
			e.pass(n.id+1, of)
		}
		return true
	})
	if !c.known {
		return
	}
	missing(c.state.lastPet)
	if seen > c.state.lastPet {
		c.report(damage("pets ends at %d and not at %d", seen, c.state.lastPet))
	}
	for i, e := range byStatus {
		e.lacking()
		e.pass(1<<62, false)
		if e.last != c.state.last[i] {
			c.report(damage("%s ends at %d and not at %d", e.table.name, e.last, c.state.last[i]))
		}
	}
}
