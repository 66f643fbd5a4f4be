package storage

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

// outcomes checks the outcomes of idempotent creates, and that none is missing.
func (c *checker) outcomes() {
	for i := range onceTables {
		t, sum := &onceTables[i], int64(0)
		c.records(t.name, func(key, value []byte) {
			o, err := openOutcome(t, key, value)
			switch {
			case err != nil:
				c.report(err)
				return
			case c.known && (o.n < 1 || o.n > max(c.state.lastPet, c.state.lastMessage)):
				c.report(damage("the record %x of %s is of what does not exist: %d", key, t.name, o.n))
			}
			sum += storedSum(value)
		})
		if c.known && sum != c.state.onceSums[i] {
			c.report(damage("%s does not hold the outcomes that were stored last", t.name))
		}
	}
}
