package petstore

import (
	"encoding/base64"
	"strconv"
)

// Cursor is a place in a list of pets, between two of them. It is for queries with the
// Limit and the Status of the page that it came with. To a client it is opaque: URL-safe
// text to send back unchanged. A store may use any form; the stores of this module use
// [CursorAfter].
type Cursor string

// CursorAfter returns the cursor of the place after the pet with that ID. It is for stores.
func CursorAfter(id int64) Cursor {
	return Cursor(base64.RawURLEncoding.EncodeToString(strconv.AppendInt(nil, id, 10)))
}

// ID returns the ID that c comes after: 0 for the empty cursor, and an [*Error]
// with [CodeInvalid] for text that [CursorAfter] never returned.
func (c Cursor) ID() (int64, error) {
	if c == "" {
		return 0, nil
	}
	b, _ := base64.RawURLEncoding.DecodeString(string(c))
	id, _ := strconv.ParseInt(string(b), 10, 64)
	if id <= 0 || CursorAfter(id) != c {
		return 0, Errorf(CodeInvalid, "cursor: must be one that this service returned")
	}
	return id, nil
}
