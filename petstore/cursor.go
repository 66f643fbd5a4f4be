package petstore

import (
	"encoding/base64"
	"encoding/binary"
)

// Cursor is a place in a list of pets, between two of them. To a client it
// is opaque: URL-safe text to hand back as it came. A store may use any form;
// ours use [CursorAfter].
type Cursor string

// cursorVersion starts every cursor, so that another form can follow this one
// without being mistaken for it.
const cursorVersion = 1

// cursorLen is the version, the ID and the checksum.
const cursorLen = 1 + 8 + 4

// cursorSum returns the checksum of a cursor: the high bits of a multiple, to
// which every bit of the ID contributes. It allocates nothing, as a hash of
// bytes would.
func cursorSum(id int64) uint32 {
	return uint32(uint64(id) * 0x9E3779B97F4A7C15 >> 32) // 2^64 over the golden ratio
}

// CursorAfter returns the cursor that goes on after the pet with that ID,
// whatever the filter.
func CursorAfter(id int64) Cursor {
	var b [cursorLen]byte
	b[0] = cursorVersion
	binary.BigEndian.PutUint64(b[1:], uint64(id))
	binary.BigEndian.PutUint32(b[9:], cursorSum(id))
	var text [(cursorLen*8 + 5) / 6]byte
	base64.RawURLEncoding.Encode(text[:], b[:])
	return Cursor(text[:])
}

// ID returns the ID that c goes on after: 0 for the empty cursor, and an
// [*Error] with [CodeInvalid] for text that [CursorAfter] never gave. The
// checksum is there for accidents (a cursor cut short or mistyped); it keeps
// no secret.
func (c Cursor) ID() (int64, error) {
	if c == "" {
		return 0, nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(string(c))
	// The decoder passes over line breaks, so the text's length counts too.
	if err != nil || len(c) != base64.RawURLEncoding.EncodedLen(cursorLen) || len(b) != cursorLen || b[0] != cursorVersion {
		return 0, errCursor
	}
	id := int64(binary.BigEndian.Uint64(b[1:]))
	if id <= 0 || binary.BigEndian.Uint32(b[9:]) != cursorSum(id) {
		return 0, errCursor
	}
	return id, nil
}

var errCursor = Errorf(CodeInvalid, "cursor: not one that this service gave out")
