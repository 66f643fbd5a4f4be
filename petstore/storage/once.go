package storage

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"example.com/animalstore/petstore"
)

// Outcomes are kept in two tables, under the digest of their petstore.Once.
// New ones go into the recent table. The other table has those from before
// update.since. When these are older than petstore.OnceKept, each commit deletes a
// few, in the order of their keys, which is page by page. When none
// is left, the empty table becomes the recent one.

// outcome is the result of a create with a Once.
type outcome struct {
	made  int64             // nanoseconds since 1970
	n     int64             // ID of the pet or number of the message
	value [sha256.Size]byte // digest of the pet or the message, without its ID
}

const outcomeLen = 8 + 8 + sha256.Size

func (o outcome) seal(t *table, key []byte) []byte {
	b := appendInt64(make([]byte, 0, outcomeLen+sumLen), o.made)
	return t.seal(key, append(appendInt64(b, o.n), o.value[:]...))
}

func openOutcome(t *table, key, value []byte) (outcome, error) {
	b, err := t.open(key, value)
	if err != nil {
		return outcome{}, err
	}
	if len(key) != sha256.Size || len(b) != outcomeLen {
		return outcome{}, damaged("the record %x of %s is not an outcome", key, t.name)
	}
	return outcome{int64At(b), int64At(b[8:]), [sha256.Size]byte(b[16:])}, nil
}

func (u *update) expired(made int64) bool { return made < u.now-int64(petstore.OnceKept) }

// recall returns the outcome of an earlier create with the same operation and
// once; nil if there is none or if it has expired. If that create had another
// value, recall returns petstore.ErrMismatch.
func (u *update) recall(operation string, once petstore.Once, value []byte) (*outcome, error) {
	if once.IsZero() {
		return nil, nil
	}
	key := once.Digest(operation)
	o, err := u.findOutcome(&onceTables[u.recent], key[:])
	if err == nil && o == nil {
		o, err = u.findOutcome(&onceTables[1-u.recent], key[:])
	}
	if err != nil || o == nil || u.expired(o.made) {
		return nil, err
	}
	if o.value != sha256.Sum256(value) {
		return nil, petstore.ErrMismatch
	}
	return o, nil
}

// findOutcome returns the outcome under key, nil if there is none. A damaged
// record may be the one of key, with another key by a flipped bit. It would be
// next to the place of key, so the records there must be sound.
func (u *update) findOutcome(t *table, key []byte) (*outcome, error) {
	b, err := t.bucket(u.Tx)
	if err != nil {
		return nil, err
	}
	if err := u.guard.path(b, key, true); err != nil {
		return nil, err
	}
	c := b.Cursor()
	k, v := c.Seek(key)
	if k != nil {
		o, err := openOutcome(t, k, v)
		if err != nil || bytes.Equal(k, key) {
			return &o, err
		}
	}
	if k, v = c.Prev(); k != nil {
		_, err = t.open(k, v)
	}
	return nil, err
}

// remember stores the outcome of a create for which recall returned nil.
func (u *update) remember(operation string, once petstore.Once, value []byte, n int64) error {
	if once.IsZero() {
		return nil
	}
	key := once.Digest(operation)
	t := &onceTables[u.recent]
	b, err := t.bucket(u.Tx)
	if err != nil {
		return err
	}
	if old := b.Get(key[:]); old != nil { // it has expired
		u.onceSums[u.recent] -= storedSum(old)
	}
	sealed := outcome{u.now, n, sha256.Sum256(value)}.seal(t, key[:])
	u.onceSums[u.recent] += storedSum(sealed)
	return u.put(b, key[:], sealed)
}

// storedSum returns the checksum at the end of a value.
func storedSum(value []byte) int64 {
	return int64(binary.BigEndian.Uint32(value[len(value)-sumLen:]))
}

// expire deletes up to n outcomes, if those of the older table have expired. It
// stops at one that has not: the clock may have been wrong when since was set.
func (u *update) expire(n int) error {
	u.since = min(u.since, u.now)
	if !u.expired(u.since) {
		return nil
	}
	older := 1 - u.recent
	t := &onceTables[older]
	b, err := t.bucket(u.Tx)
	if err != nil {
		return err
	}
	if err := u.guard.path(b, nil, true); err != nil {
		return err
	}
	var keys [][]byte
	c := b.Cursor()
	k, v := c.First()
	if k == nil {
		u.recent, u.since = older, u.now
		return nil
	}
	for ; k != nil && len(keys) < n; k, v = c.Next() {
		o, err := openOutcome(t, k, v)
		if err != nil {
			return err
		}
		if !u.expired(o.made) {
			u.since = min(o.made, u.now)
			break
		}
		if err := u.guard.path(b, k, true); err != nil { // Next may move to the page after this one
			return err
		}
		keys = append(keys, bytes.Clone(k))
		u.onceSums[older] -= storedSum(v)
	}
	for _, k := range keys {
		if _, err := u.delete(b, k); err != nil {
			return err
		}
	}
	return nil
}
