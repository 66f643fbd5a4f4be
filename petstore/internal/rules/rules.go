// Package rules has the rules that the stores, the handler and the client of this module share
// and petstore does not state.
package rules

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	"example.com/animalstore/petstore"
)

// QueueCapacity is how many messages a store queues at most, by default.
const QueueCapacity = 100_000

// ErrNoIDs is the error of a create after an import that has set the highest ID.
var ErrNoIDs = petstore.Errorf(petstore.CodeInsufficientStorage, "there are no higher IDs")

// MessageTime returns t as stores keep it in petstore.Message.CreatedAt.
func MessageTime(t time.Time) time.Time {
	return t.UTC().Truncate(time.Millisecond)
}

// MessageID returns the ID of the n-th message that a store accepted.
func MessageID(n int64) string {
	return "msg_" + strconv.FormatInt(n, 10) // distinguishes it from a pet's
}

// ParseMessageID returns the n of [MessageID], and false for text that
// MessageID never returned.
func ParseMessageID(id string) (n int64, ok bool) {
	n, _ = strconv.ParseInt(strings.TrimPrefix(id, "msg_"), 10, 64)
	return n, n > 0 && MessageID(n) == id
}

// ValidateQueueLimit returns an error if limit is out of range for
// petstore.Queue.QueuedMessages.
func ValidateQueueLimit(limit int) error {
	if limit < 1 || limit > petstore.MaxQueueLimit {
		return petstore.Errorf(petstore.CodeInvalid, "limit: must be an integer from 1 to %d", petstore.MaxQueueLimit)
	}
	return nil
}

// Printable reports whether s has only printable characters of ASCII, the space included.
func Printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// Visible reports whether s has only visible characters of ASCII, as an API key has.
func Visible(s string) bool { return Printable(s) && !strings.Contains(s, " ") }

// The operations that [Digest] distinguishes.
const (
	CreatePet     = "createPet"
	SubmitMessage = "submitMessage"
)

// Digest returns the key under which a store remembers the result of an operation with
// an idempotency key. Different operations, scopes and keys have different digests, and
// all digests have the same length.
func Digest(operation string, key petstore.IdempotencyKey) [sha256.Size]byte {
	var b []byte
	for _, s := range []string{operation, key.Scope, key.Key} {
		b = binary.AppendUvarint(b, uint64(len(s))) // where one string ends and the next begins
		b = append(b, s...)
	}
	return sha256.Sum256(b)
}
