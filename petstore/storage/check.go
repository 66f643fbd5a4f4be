package storage

import (
	"bytes"
	"fmt"

	"example.com/animalstore/petstore/storage/internal/boltfile"
)

// Check reads the whole file at path, every page and every record, and calls
// report for each damage that it finds; the error wraps [ErrDamaged] and names
// the page or the record. It changes nothing, maps nothing into memory, and needs
// little memory for any file.
//
// Check returns an error if the file cannot be checked: it is in use
// ([ErrLocked]; on systems without flock that is not noticed), from a newer
// release ([ErrNewer]), or cannot be read.
func Check(path string, report func(error)) error {
	c := &checker{report: report}
	file, closeFile, err := scan(path, c.found)
	if err != nil {
		return fmt.Errorf("checking the store: %w", err)
	}
	defer closeFile()
	c.file = file
	if file.Lost {
		return nil // nothing leads to any record
	}
	if err := c.meta(); err != nil {
		return fmt.Errorf("checking the store: %w", err)
	}
	c.pets()
	c.queue()
	c.outcomes()
	for name := range file.Buckets() {
		if !isTable(name) {
			c.found(damaged("there is a bucket %q that is not known", name))
		}
	}
	if c.damaged {
		return nil // the damage hides pages that are in use, so they seem stray
	}
	for id := range file.Stray() {
		c.found(boltfile.StrayPage(id))
	}
	return nil
}

func isTable(name string) bool {
	for _, t := range tables() {
		if string(t.name) == name {
			return true
		}
	}
	return false
}

// checker checks the records of a file.
type checker struct {
	file    *boltfile.File
	report  func(error)
	damaged bool
	state   state
	known   bool // the state could be read
}

func (c *checker) found(err error) {
	c.damaged = true
	c.report(err)
}

// meta checks the mark and the version, and reads the counters.
func (c *checker) meta() (newer error) {
	marked := false
	for key, value := range c.file.Records(string(metaTable.name)) {
		body, err := metaTable.open(key, value)
		switch {
		case err != nil:
		case bytes.Equal(key, applicationKey):
			marked = string(body) == application
		case bytes.Equal(key, schemaKey) && len(body) == 8:
			if n := int64At(body); n > schema {
				newer = fmt.Errorf("%w: its schema is version %d, and this one knows %d", ErrNewer, n, schema)
			}
		case bytes.Equal(key, stateKey):
			c.state, err = decodeState(body)
			c.known = err == nil
		default:
			err = damaged("the record %q of meta is not known", key)
		}
		if err != nil {
			c.found(err)
		}
	}
	if !marked {
		c.found(damaged("it does not say that it is a petstore"))
	}
	if !c.known {
		c.found(damaged("the counters are missing"))
	}
	if err := c.state.judgeInvalid(c.file.Spare); err != nil {
		c.found(err)
	}
	return newer
}

// queue checks the queued messages.
func (c *checker) queue() {
	count := int64(0)
	for key, value := range c.file.Records(string(queueTable.name)) {
		count++
		body, err := queueTable.open(key, value)
		if err == nil && (len(key) != 8 || len(body) < 8 || c.known && int64At(key) > c.state.lastMessage) {
			err = damaged("the record %x of queue is not a message", key)
		}
		if err != nil {
			c.found(err)
		}
	}
	if c.known && count != c.state.queued {
		c.found(damaged("the queue holds %d messages and not %d", count, c.state.queued))
	}
}

// outcomes checks the outcomes of idempotent creates, and that none is missing.
func (c *checker) outcomes() {
	for i := range onceTables {
		t, sum := &onceTables[i], int64(0)
		for key, value := range c.file.Records(string(t.name)) {
			o, err := openOutcome(t, key, value)
			if err == nil && c.known && (o.n < 1 || o.n > max(c.state.lastPet(), c.state.lastMessage)) {
				err = damaged("the record %x of %s is of %d, which was never created", key, t.name, o.n)
			}
			if err != nil {
				c.found(err)
			} else {
				sum += storedSum(value)
			}
		}
		if c.known && sum != c.state.onceSums[i] {
			c.found(damaged("%s does not hold the outcomes that were stored last", t.name))
		}
	}
}
