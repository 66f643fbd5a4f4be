package storage

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"example.com/animalstore/petstore"
)

// Outcomes are kept in two tables, under the digest of their petstore.Once.
// New ones go into the recent table. The other table has those from before
// RecentSince. When all of these are older than petstore.OnceKept, each commit
// deletes a few, in the order of their keys and so page by page. When none is
// left, the empty table becomes the recent one.

// outcome is the result of a create with a Once.
type outcome struct {
	clock int64             // state.Clock at the create
	made  int64             // the time of the create, in nanoseconds since 1970
	n     int64             // ID of the pet or number of the message
	value [sha256.Size]byte // digest of the pet or the message, without its ID
}

const outcomeLen = 8 + 8 + 8 + sha256.Size

func (o outcome) seal(t *table, key []byte) []byte {
	b := appendInt64(make([]byte, 0, outcomeLen+sumLen), o.clock)
	b = appendInt64(appendInt64(b, o.made), o.n)
	return t.seal(key, append(b, o.value[:]...))
}

func openOutcome(t *table, key, value []byte) (outcome, error) {
	b, err := t.open(key, value)
	if err != nil {
		return outcome{}, err
	}
	if len(key) != sha256.Size || len(b) != outcomeLen {
		return outcome{}, damaged("%s is not an outcome", t.record(key))
	}
	return outcome{int64At(b), int64At(b[8:]), int64At(b[16:]), [sha256.Size]byte(b[24:])}, nil
}

// readClock sets u.now, and advances the clock of the outcomes: by the time that
// has passed while the file was open, as the system's monotonic clock measures
// it. Setting the date has no effect. The time between a Close and the
// next Open is not counted, because only the date could tell it.
func (u *update) readClock(s *Store) {
	now := s.now()
	u.now = now.UnixNano()
	u.Clock = max(u.Clock, s.openedClock+int64(now.Sub(s.opened)))
}

func (u *update) expired(clock int64) bool { return clock < u.Clock-int64(petstore.OnceKept) }

// recall returns the outcome of an earlier create with the same operation and
// once; nil if there is none or if it has expired. If that create had another
// value, recall returns petstore.ErrMismatch.
func (u *update) recall(operation string, once petstore.Once, value []byte) (*outcome, error) {
	if once.IsZero() {
		return nil, nil
	}
	key := once.Digest(operation)
	o, err := u.findOutcome(u.Recent, key[:])
	if err == nil && o == nil {
		o, err = u.findOutcome(1-u.Recent, key[:])
	}
	if err != nil || o == nil || u.expired(o.clock) {
		return nil, err
	}
	if o.value != sha256.Sum256(value) {
		return nil, petstore.ErrMismatch
	}
	return o, nil
}

// findOutcome returns the outcome under key in onceTables[i], or nil if there is
// none. A flipped bit may have changed the key of a record. The record is then next
// to the place of key, so the records there must be sound.
func (u *update) findOutcome(i int64, key []byte) (*outcome, error) {
	t, b := &onceTables[i], u.buckets.once[i]
	if err := u.guard.Check(b, key, true); err != nil {
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
		_, err := t.open(k, v)
		return nil, err
	}
	return nil, nil
}

// remember stores the outcome of a create for which recall returned nil.
func (u *update) remember(operation string, once petstore.Once, value []byte, n int64) error {
	if once.IsZero() {
		return nil
	}
	key := once.Digest(operation)
	t, b := &onceTables[u.Recent], u.buckets.once[u.Recent]
	if old := b.Get(key[:]); old != nil { // it has expired
		u.OnceSums[u.Recent] -= storedSum(old)
	}
	sealed := outcome{u.Clock, u.now, n, sha256.Sum256(value)}.seal(t, key[:])
	u.OnceSums[u.Recent] += storedSum(sealed)
	return u.put(b, key[:], sealed)
}

// storedSum returns the checksum at the end of a value.
func storedSum(value []byte) int64 {
	return int64(binary.BigEndian.Uint32(value[len(value)-sumLen:]))
}

// expire deletes up to n outcomes of the older table, if all of them have
// expired.
func (u *update) expire(n int) error {
	if !u.expired(u.RecentSince) {
		return nil
	}
	older := 1 - u.Recent
	t, b := &onceTables[older], u.buckets.once[older]
	if err := u.guard.Check(b, nil, true); err != nil {
		return err
	}
	var keys [][]byte
	c := b.Cursor()
	for k, v := c.First(); k != nil && len(keys) < n; k, v = c.Next() {
		if _, err := t.open(k, v); err != nil {
			return err
		}
		if err := u.guard.Check(b, k, true); err != nil { // Next may move to the page after this one
			return err
		}
		keys = append(keys, k)
		u.OnceSums[older] -= storedSum(v)
	}
	if len(keys) == 0 {
		u.Recent, u.RecentSince = older, u.Clock
	}
	for _, k := range keys {
		if _, err := u.delete(b, k); err != nil {
			return err
		}
	}
	return nil
}
