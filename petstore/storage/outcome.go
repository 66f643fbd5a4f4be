package storage

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/rules"
	"example.com/animalstore/petstore/storage/internal/lines"
)

// window is how long an outcome is kept at least, in microseconds.
var window = petstore.IdempotencyWindow.Microseconds()

// outcome is the result of a create with an idempotency key. Its fields are stored in
// this order, under the digest of the key.
type outcome struct {
	Made    int64             // when, in microseconds since 1970
	Pet     int64             // the ID of the pet; 0: it was a message
	Message int64             // the number of the message; 0: it was a pet
	Value   [sha256.Size]byte // digest of the pet or the message, without its ID
}

func (o *outcome) expired(now int64) bool { return o.Made < now-window }

// outcomeOf returns the outcome in the body of a record.
func outcomeOf(body []byte) (o outcome) {
	_, _ = binary.Decode(body, binary.BigEndian, &o) // it has the length of an outcome
	return o
}

// line returns the outcome under a key as an export has it.
func (o *outcome) line(key []byte) *lines.Outcome {
	return &lines.Outcome{
		Key:     [sha256.Size]byte(key),
		Value:   o.Value,
		Pet:     o.Pet,
		Message: o.Message,
		Created: time.UnixMicro(o.Made).UTC(),
	}
}

// outcome returns the outcome of an earlier create with the same operation and key. If
// there is none, or if it has expired, it calls create, which sets what it has created,
// and stores the outcome. If the earlier create had another value, outcome returns
// petstore.ErrIdempotencyMismatch.
func (tx *writeTx) outcome(
	operation string, key petstore.IdempotencyKey, value []byte, create func(*outcome) error,
) (outcome, error) {
	made := outcome{Made: tx.now}
	if key.Key == "" {
		return made, create(&made)
	}
	digest := rules.Digest(operation, key)
	made.Value = sha256.Sum256(value)
	body, err := tableIn(tx.Tx, &outcomeTable).find(digest[:])
	if err != nil {
		return outcome{}, err
	}
	if body != nil {
		switch earlier := outcomeOf(body); {
		case earlier.expired(tx.now):
		case earlier.Value != made.Value:
			return outcome{}, petstore.ErrIdempotencyMismatch
		default: // it is repeated
			return earlier, nil
		}
	}
	if err := create(&made); err != nil {
		return outcome{}, err
	}
	if err := tx.deleteExpired(digest[:]); err != nil {
		return outcome{}, err
	}
	return made, tx.addOutcome(digest[:], made)
}

// addOutcome stores an outcome under the digest of its key.
func (tx *writeTx) addOutcome(digest []byte, o outcome) error {
	body, err := binary.Append(nil, binary.BigEndian, o)
	if err != nil {
		return err
	}
	tx.outcomes = append(tx.outcomes, digest)
	return tableIn(tx.Tx, &outcomeTable).put(digest, body)
}

// deleteExpired looks at four outcomes from a digest on, and deletes those that have expired.
// It is called once for each outcome that is added. Digests are random: when a quarter of the
// outcomes have expired, it finds one on average, so the table grows no further.
func (tx *writeTx) deleteExpired(digest []byte) error {
	b := tableIn(tx.Tx, &outcomeTable)
	var expired [][]byte
	c := b.Cursor()
	k, v := c.Seek(digest)
	for n := 0; n < 4 && k != nil; n++ {
		body, err := outcomeTable.open(k, v)
		if err != nil {
			return err
		}
		if o := outcomeOf(body); o.expired(tx.now) {
			expired = append(expired, k)
		}
		k, v = c.Next()
	}
	for _, k := range expired {
		if err := b.Delete(k); err != nil {
			return err
		}
	}
	return nil
}
