package storage

import (
	"crypto/sha256"
	"slices"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/rules"
	"example.com/animalstore/petstore/storage/internal/lines"
)

// outcomeOf returns the outcome of a record.
func outcomeOf(key, body []byte) *lines.Outcome {
	return &lines.Outcome{
		Key:     [sha256.Size]byte(key),
		Created: int64At(body),
		Pet:     int64At(body[8:]),
		Message: int64At(body[16:]),
		Value:   [sha256.Size]byte(body[24:]),
	}
}

// once returns the outcome of an earlier create with the same operation and key. If
// there is none, or if it has expired, once calls create, which sets what it has created,
// and stores the outcome. If the earlier create had another value, once returns
// petstore.ErrIdempotencyMismatch.
func (tx *writeTx) once(
	operation string, key petstore.IdempotencyKey, value []byte, create func(*lines.Outcome) error,
) (*lines.Outcome, error) {
	made := &lines.Outcome{Created: tx.now}
	if key.Key == "" {
		return made, create(made)
	}
	made.Key, made.Value = rules.Digest(operation, key), sha256.Sum256(value)
	body, err := tableIn(tx.Tx, &outcomeTable).find(made.Key[:])
	if err != nil {
		return made, err
	}
	if body != nil {
		switch earlier := outcomeOf(made.Key[:], body); {
		case earlier.Expired(tx.now):
		case earlier.Value != made.Value:
			return made, petstore.ErrIdempotencyMismatch
		default: // it is repeated
			return earlier, nil
		}
	}
	if err := create(made); err != nil {
		return made, err
	}
	if err := tx.deleteExpired(made.Key[:]); err != nil {
		return made, err
	}
	return made, tx.addOutcome(made)
}

// addOutcome stores an outcome.
func (tx *writeTx) addOutcome(o *lines.Outcome) error {
	tx.outcomes = append(tx.outcomes, o.Key[:])
	body := slices.Concat(idKey(o.Created), idKey(o.Pet), idKey(o.Message), o.Value[:])
	return tableIn(tx.Tx, &outcomeTable).put(o.Key[:], body)
}

// deleteExpired looks at the four outcomes after a digest, and deletes those that have expired.
// It is called once for each outcome that is added. Digests are random: when a quarter of the
// outcomes have expired, it finds one on average, so the table grows no further.
func (tx *writeTx) deleteExpired(digest []byte) error {
	b := tableIn(tx.Tx, &outcomeTable)
	var expired [][]byte
	n := 0
	for rec, err := range b.after(digest) {
		if err != nil {
			return err
		}
		if outcomeOf(rec.key, rec.value).Expired(tx.now) {
			expired = append(expired, rec.key)
		}
		if n++; n == 4 {
			break
		}
	}
	for _, k := range expired {
		if err := b.Delete(k); err != nil {
			return err
		}
	}
	return nil
}
