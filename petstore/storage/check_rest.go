package storage

import (
	"bytes"
	"crypto/sha256"
	"hash/maphash"
)

// queue checks the queued messages.
func (c *checker) queue() {
	count := int64(0)
	c.records(queueTable.name, func(key, value []byte) {
		count++
		body := c.sound(&queueTable, key, value)
		if body != nil && (len(key) != 8 || len(body) < 8 || c.known && int64At(key) > c.state.lastMessage) {
			c.report(damage("the record %x of queue is no message", key))
		}
	})
	if c.known && count != c.state.queued {
		c.report(damage("the queue holds %d messages and not %d", count, c.state.queued))
	}
}

// outcomes checks the chain of idempotent creations, and that the table of
// when they end names the same ones: a page of either that has gone back to an
// earlier state makes sense in itself, but not beside the other.
func (c *checker) outcomes() {
	seed := maphash.MakeSeed()
	var sum uint64 // of the outcomes that expiry has yet to name
	var prev link
	var last []byte
	c.records(onceTable.name, func(key, value []byte) {
		o, err := openOutcome(key, value)
		if err != nil {
			c.report(causeOf(err))
		} else if o.prev != prev {
			c.report(damage("records of once are missing before %x", key))
		}
		if copy(prev[:], key); !bytes.Equal(key, lastOnce) {
			sum ^= maphash.Bytes(seed, expiryKey(o.made, key))
			if err == nil && c.known && (o.n < 1 || o.n > max(c.state.lastPet, c.state.lastMessage)) {
				c.report(damage("the record %x of once is of what there is not: %d", key, o.n))
			}
		}
		last = key
	})
	if !bytes.Equal(last, lastOnce) {
		c.report(damage("the end of once is missing"))
	}
	c.records(expiryTable.name, func(key, value []byte) {
		if len(key) != 8+sha256.Size || len(value) != 0 {
			c.report(damage("the record %x of expiry makes no sense", key))
			return
		}
		o, err := openOutcome(key[8:], c.lookup(onceTable.name, key[8:]))
		switch {
		case err != nil || o.made < int64At(key):
			c.report(damage("the outcome %x of once is missing, which expiry names", key[8:]))
		case o.made == int64At(key): // else it was made anew since
			sum ^= maphash.Bytes(seed, key)
		}
	})
	if sum != 0 {
		c.report(damage("once holds outcomes that expiry does not name"))
	}
}
