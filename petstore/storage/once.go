package storage

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"go.etcd.io/bbolt"

	"example.com/animalstore/petstore"
)

// outcome is what a creation made with a Once has led to, and enough to tell
// whether a later one asks for the same. Pets stay as they are, so theirs
// are compared with the record; a message may have been taken off the queue,
// so its text is known by a digest.
type outcome struct {
	// prev is the front of the key before this one, zero for the first. It
	// proves that there is nothing in between: a key that a damaged page
	// hides would else be missed, and its creation repeated.
	prev link
	made int64 // nanoseconds since 1970
	n    int64 // the pet's ID, the message's number
	text [sha256.Size]byte
}

type link [8]byte

const outcomeLen = 8 + 8 + 8 + sha256.Size

// lastOnce is the key of a record that is always there, after all others, so
// that each of them has one behind it to be linked from.
var lastOnce = bytes.Repeat([]byte{0xFF}, sha256.Size)

func (o outcome) seal(key []byte) []byte {
	b := make([]byte, 0, outcomeLen+sumLen)
	b = append(b, o.prev[:]...)
	b = appendInt64(b, o.made)
	b = appendInt64(b, o.n)
	return onceTable.seal(key, append(b, o.text[:]...))
}

func openOutcome(key, value []byte) (outcome, error) {
	b, err := onceTable.open(key, value)
	if err != nil {
		return outcome{}, err
	}
	if len(b) != outcomeLen {
		return outcome{}, damaged("a record of once has %d bytes", len(b))
	}
	o := outcome{made: int64At(b[8:]), n: int64At(b[16:])}
	copy(o.prev[:], b)
	copy(o.text[:], b[24:])
	return o, nil
}

// outcomes walks through the records of once in the order of their keys.
type outcomes struct {
	bucket *bbolt.Bucket
	cursor *bbolt.Cursor
	key    []byte // of the record that the walk is at
	outcome
}

// seekOutcome checks the pages around key, finds the record of key, or the one
// after where it would be, and makes sure that nothing is missing before it.
func (u *update) seekOutcome(key []byte) (*outcomes, error) {
	b, err := onceTable.bucket(u.Tx)
	if err != nil {
		return nil, err
	}
	if err := u.guard.path(b, key, true); err != nil {
		return nil, err
	}
	w := &outcomes{bucket: b, cursor: b.Cursor()}
	if err := w.at(w.cursor.Seek(key)); err != nil {
		return nil, err
	}
	var prev link
	before, v := w.cursor.Prev()
	copy(prev[:], before)
	if before != nil {
		if _, err := onceTable.open(before, v); err != nil {
			return nil, err
		}
	}
	if prev != w.prev || bytes.Compare(w.key, key) < 0 || before != nil && bytes.Compare(before, key) >= 0 {
		return nil, damaged("records of once are missing before %x", w.key)
	}
	return w, nil
}

// after moves on to the record after key.
func (w *outcomes) after(key []byte) error {
	w.cursor.Seek(key)
	return w.at(w.cursor.Next())
}

func (w *outcomes) at(k, v []byte) (err error) {
	if k == nil {
		return damaged("the end of once is missing")
	}
	w.key = bytes.Clone(k) // it outlives changes to its page
	w.outcome, err = openOutcome(k, v)
	return err
}

// recall looks up the outcome of an earlier creation; nil if there is none
// that is still remembered.
func (u *update) recall(operation string, once petstore.Once) (*outcome, error) {
	if once.IsZero() {
		return nil, nil
	}
	key := once.Digest(operation)
	w, err := u.seekOutcome(key[:])
	if err != nil || !bytes.Equal(w.key, key[:]) || u.expired(w.made) {
		return nil, err
	}
	return &w.outcome, nil
}

func (u *update) expired(made int64) bool { return made < u.now-int64(petstore.OnceKept) }

// remember keeps the outcome of a creation, which recall has not found.
func (u *update) remember(operation string, once petstore.Once, o outcome) error {
	if once.IsZero() {
		return nil
	}
	key := once.Digest(operation)
	w, err := u.seekOutcome(key[:])
	if err != nil {
		return err
	}
	o.made = u.now
	o.prev = w.prev
	if !bytes.Equal(w.key, key[:]) {
		copy(w.prev[:], key[:])
		u.put(w.bucket, w.key, w.outcome.seal(w.key))
	}
	u.put(w.bucket, key[:], o.seal(key[:]))
	u.put(u.Bucket(expiryTable.name), expiryKey(o.made, key[:]), nil)
	return nil
}

func expiryKey(made int64, digest []byte) []byte {
	return append(appendInt64(nil, made), digest...)
}

// expire drops up to n outcomes whose time is over. Called with every commit
// for twice as many as that can add, it keeps up with any load, and no commit
// pays for more than its share.
func (u *update) expire(n int) error {
	expiry, err := expiryTable.bucket(u.Tx)
	if err != nil {
		return err
	}
	if err := u.guard.path(expiry, nil, true); err != nil {
		return err
	}
	var over [][]byte
	c := expiry.Cursor()
	for k, _ := c.First(); len(k) > 8 && len(over) < n && u.expired(int64At(k)); k, _ = c.Next() {
		over = append(over, bytes.Clone(k))
		if err := u.guard.path(expiry, k, true); err != nil { // the next leaf too
			return err
		}
	}
	// From the last key of once back: bbolt's Cursor.Prev takes a leaf that
	// this transaction has emptied for the start.
	slices.SortFunc(over, func(a, b []byte) int { return bytes.Compare(b[8:], a[8:]) })
	for _, k := range over {
		u.delete(expiry, k)
		u.forget(k[8:])
	}
	return u.err
}

// forget drops an outcome, unless it was made again after its entry in the
// expiry table.
func (u *update) forget(key []byte) {
	w, err := u.seekOutcome(key)
	if err != nil {
		u.note(err)
		return
	}
	if !bytes.Equal(w.key, key) || !u.expired(w.made) {
		return
	}
	prev := w.prev
	if err := w.after(key); err != nil {
		u.note(err)
		return
	}
	w.prev = prev
	u.put(w.bucket, w.key, w.outcome.seal(w.key))
	u.delete(w.bucket, key)
}
