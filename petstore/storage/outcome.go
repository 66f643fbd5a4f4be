package storage

import (
	"crypto/sha256"
	"encoding/binary"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/stores"
)

// Outcomes are kept in two tables, under the digest of their idempotency key.
// New ones go into the recent table. The other table has those from before
// RecentSince. When all of these are older than petstore.IdempotencyWindow, each commit
// deletes a few, in the order of their keys and so page by page. When none is
// left, the empty table becomes the recent one. In a new file RecentSince is 0, so the
// first commit does this at once.

const window = int64(petstore.IdempotencyWindow)

// outcome is the result of a create with an idempotency key. Its fields are stored in
// this order.
type outcome struct {
	Made  int64             // when, in nanoseconds since 1970
	N     int64             // ID of the pet or number of the message
	Value [sha256.Size]byte // digest of the pet or the message, without its ID
}

// outcome returns the outcome of an earlier create with the same operation and key. If
// there is none, or if it has expired, it calls create, which returns an ID or a
// number, and stores the outcome. If the earlier create had another value, outcome
// returns petstore.ErrIdempotencyMismatch.
func (tx *update) outcome(operation string, key petstore.IdempotencyKey, value []byte, create func() (int64, error)) (outcome, error) {
	made := outcome{Made: tx.now}
	var err error
	if key.Key == "" {
		made.N, err = create()
		return made, err
	}
	digest := stores.Digest(operation, key)
	made.Value = sha256.Sum256(value)
	for i := range outcomeTables {
		b := tx.table(&outcomeTables[i])
		body, err := b.find(digest[:])
		if err != nil {
			return outcome{}, err
		}
		if body == nil {
			continue
		}
		var earlier outcome
		switch _, err := binary.Decode(body, binary.BigEndian, &earlier); {
		case err != nil:
			return outcome{}, err
		case earlier.Made < tx.now-window: // it has expired
		case earlier.Value != made.Value:
			return outcome{}, petstore.ErrIdempotencyMismatch
		default:
			return earlier, nil
		}
	}
	if made.N, err = create(); err != nil {
		return outcome{}, err
	}
	body, err := binary.Append(nil, binary.BigEndian, made)
	if err != nil {
		return outcome{}, err
	}
	tx.keys = append(tx.keys, digest[:])
	return made, tx.table(&outcomeTables[tx.Recent]).put(digest[:], body)
}

// expire deletes up to n outcomes of the older table, all of which have expired.
func (tx *update) expire(n int) error {
	older := 1 - tx.Recent
	b := tx.table(&outcomeTables[older])
	var keys [][]byte
	c := b.Cursor()
	for k, v := c.First(); k != nil && len(keys) < n; k, v = c.Next() {
		if _, err := b.open(k, v); err != nil {
			return err
		}
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		tx.Recent, tx.RecentSince = older, tx.now
	}
	for _, k := range keys {
		if err := b.Delete(k); err != nil {
			return err
		}
	}
	return nil
}
