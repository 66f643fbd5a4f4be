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

// cursorVersion is the first byte of every cursor, so that a later form cannot
// be mistaken for this one.
const cursorVersion = 1

// cursorLen is the length of the version, the ID and the checksum.
const cursorLen = 1 + 8 + 4

// cursorSum returns the checksum of a cursor: the high bits of a multiple, to
// which every bit of the ID contributes.
func cursorSum(id int64) uint32 {
	return uint32(uint64(id) * 0x9E3779B97F4A7C15 >> 32) // 2^64 over the golden ratio
}

// CursorAfter returns the cursor of the place after the pet with that ID, for
// every filter. It is for stores.
func CursorAfter(id int64) Cursor {
	var b [cursorLen]byte
	b[0] = cursorVersion
	binary.BigEndian.PutUint64(b[1:], uint64(id))
	binary.BigEndian.PutUint32(b[9:], cursorSum(id))
	return Cursor(base64.RawURLEncoding.EncodeToString(b[:]))
}

// ID returns the ID that c comes after: 0 for the empty cursor, and an [*Error]
// with [CodeInvalid] for text that [CursorAfter] never returned. The checksum
// detects accidents (a cursor that is cut short or mistyped); it keeps no
// secret. ID is for stores.
func (c Cursor) ID() (int64, error) {
	if c == "" {
		return 0, nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(string(c))
	// The decoder ignores line breaks, so the text's length counts too.
	if err != nil || len(c) != base64.RawURLEncoding.EncodedLen(cursorLen) || len(b) != cursorLen || b[0] != cursorVersion {
		return 0, errCursor
	}
	id := int64(binary.BigEndian.Uint64(b[1:]))
	if id <= 0 || binary.BigEndian.Uint32(b[9:]) != cursorSum(id) {
		return 0, errCursor
	}
	return id, nil
}

var errCursor = Errorf(CodeInvalid, "cursor: must be one that this service returned")

// MessageTime returns t as stores keep it in [Message.CreatedAt].
func MessageTime(t time.Time) time.Time {
	return t.UTC().Truncate(time.Millisecond)
}

// messageIDPrefix distinguishes a message's ID from a pet's.
const messageIDPrefix = "msg_"

// MessageID returns the ID of the n-th message that a store accepted. It is for
// stores: to a client an ID is opaque, and a store may use any other form.
func MessageID(n int64) string {
	return messageIDPrefix + strconv.FormatInt(n, 10)
}

// ParseMessageID returns the n of [MessageID], and false for text that
// MessageID never returned. It is for stores.
func ParseMessageID(id string) (n int64, ok bool) {
	digits, found := strings.CutPrefix(id, messageIDPrefix)
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, found && err == nil && n > 0 && MessageID(n) == id
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
