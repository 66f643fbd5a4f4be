package petstore

// This file holds what only the implementation of a store needs.

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"strings"
	"time"
)

// cursorPrefix says which form of cursor this is, so that a later form cannot be
// mistaken for it.
const cursorPrefix = "after "

// CursorAfter returns the cursor of the place after the pet with that ID, for
// every filter. It is for stores.
func CursorAfter(id int64) Cursor {
	return Cursor(base64.RawURLEncoding.EncodeToString(strconv.AppendInt([]byte(cursorPrefix), id, 10)))
}

// ID returns the ID that c comes after: 0 for the empty cursor, and an [*Error]
// with [CodeInvalid] for text that [CursorAfter] never returned. ID is for stores.
func (c Cursor) ID() (int64, error) {
	if c == "" {
		return 0, nil
	}
	b, _ := base64.RawURLEncoding.DecodeString(string(c))
	id, _ := strconv.ParseInt(strings.TrimPrefix(string(b), cursorPrefix), 10, 64)
	if id <= 0 || CursorAfter(id) != c {
		return 0, Errorf(CodeInvalid, "cursor: must be one that this service returned")
	}
	return id, nil
}

// MessageTime returns t as stores keep it in [Message.CreatedAt].
func MessageTime(t time.Time) time.Time {
	return t.UTC().Truncate(time.Millisecond)
}

// MessageID returns the ID of the n-th message that a store accepted. It is for
// stores: to a client an ID is opaque, and a store may use any other form.
func MessageID(n int64) string {
	return "msg_" + strconv.FormatInt(n, 10) // distinguishes it from a pet's
}

// ParseMessageID returns the n of [MessageID], and false for text that
// MessageID never returned. It is for stores.
func ParseMessageID(id string) (n int64, ok bool) {
	n, _ = strconv.ParseInt(strings.TrimPrefix(id, "msg_"), 10, 64)
	return n, n > 0 && MessageID(n) == id
}

// DefaultQueueCapacity is how many messages the stores of this module queue at
// most, unless their options set another limit.
const DefaultQueueCapacity = 100_000

// ValidateQueueLimit returns an [*Error] with [CodeInvalid] if limit is out of
// range for [Queue.QueuedMessages]. It is for stores.
func ValidateQueueLimit(limit int) error {
	if limit < 1 || limit > MaxQueueLimit {
		return Errorf(CodeInvalid, "limit: must be an integer from 1 to %d", MaxQueueLimit)
	}
	return nil
}

// The operations that [Once.Digest] distinguishes.
const (
	OnceCreatePet     = "createPet"
	OnceSubmitMessage = "submitMessage"
)

// Digest returns the key under which a store remembers the result of an
// operation with o. Different operations, scopes and keys have different
// digests, and all digests have the same length. Digest is for stores.
func (o Once) Digest(operation string) [sha256.Size]byte {
	var b []byte
	for _, s := range []string{operation, o.Scope, o.Key} {
		b = binary.AppendUvarint(b, uint64(len(s))) // where one string ends and the next begins
		b = append(b, s...)
	}
	return sha256.Sum256(b)
}
