package storage

import (
	"crypto/sha256"

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

func openOutcome(t *table, key, value []byte) (o outcome, err error) {
	b, err := t.open(key, value)
	if err != nil {
		return o, err
	}
	if len(key) != sha256.Size || len(b) != outcomeLen {
		return o, damaged("%s is not an outcome", t.describe(key))
	}
	return outcome{int64At(b), int64At(b[8:]), int64At(b[16:]), [sha256.Size]byte(b[24:])}, nil
}

func (u *update) expired(clock int64) bool { return clock < u.Clock-int64(petstore.OnceKept) }

// once returns the outcome of an earlier create with the same operation and once. If
// there is none, or if it has expired, it calls create, which returns an ID or a
// number, and stores the outcome. If the earlier create had another value, once
// returns petstore.ErrMismatch.
func (u *update) once(operation string, once petstore.Once, value []byte, create func() (int64, error)) (outcome, error) {
	made := outcome{clock: u.Clock, made: u.now}
	if once.IsZero() {
		n, err := create()
		made.n = n
		return made, err
	}
	key := once.Digest(operation)
	made.value = sha256.Sum256(value)
	for _, b := range u.outcomes {
		stored, err := b.find(key[:])
		if err != nil {
			return outcome{}, err
		}
		if stored == nil {
			continue
		}
		switch earlier, err := openOutcome(b.table, key[:], stored); {
		case err != nil:
			return outcome{}, err
		case u.expired(earlier.clock):
		case earlier.value != made.value:
			return outcome{}, petstore.ErrMismatch
		default:
			return earlier, nil
		}
	}
	n, err := create()
	if err != nil {
		return outcome{}, err
	}
	made.n = n
	u.keys = append(u.keys, key[:])
	b := u.outcomes[u.Recent]
	if b.Get(key[:]) == nil { // otherwise it has expired
		u.OutcomeCounts[u.Recent]++
	}
	body := appendInt64(make([]byte, 0, outcomeLen+sumLen), made.clock)
	body = appendInt64(appendInt64(body, made.made), made.n)
	return made, b.put(key[:], append(body, made.value[:]...))
}

// expire deletes up to n outcomes of the older table, all of which have expired.
func (u *update) expire(n int) error {
	older := 1 - u.Recent
	b := u.outcomes[older]
	var keys [][]byte
	c := b.Cursor()
	for k, v := c.First(); k != nil && len(keys) < n; k, v = c.Next() {
		if _, err := b.open(k, v); err != nil {
			return err
		}
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		u.Recent, u.RecentSince = older, u.Clock
	}
	for _, k := range keys {
		if err := b.Delete(k); err != nil {
			return err
		}
	}
	u.OutcomeCounts[older] -= int64(len(keys))
	return nil
}
