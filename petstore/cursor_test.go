package petstore_test

import (
	"math"
	"testing"

	"example.com/animalstore/petstore"
)

// FuzzCursor: exactly the cursors that CursorAfter returns are accepted.
func FuzzCursor(f *testing.F) {
	for _, id := range []int64{1, 2, 1 << 53, math.MaxInt64} {
		f.Add(string(petstore.CursorAfter(id)))
	}
	f.Add("x")
	f.Add("")
	f.Add("MDE")                                  // 01
	f.Add(string(petstore.CursorAfter(1)) + "\n") // which the decoder of base64 ignores
	f.Fuzz(func(t *testing.T, s string) {
		id, err := petstore.Cursor(s).ID()
		switch {
		case s == "":
			if id != 0 || err != nil {
				t.Errorf("the empty cursor is after %d, %v", id, err)
			}
		case err == nil:
			if id <= 0 || petstore.CursorAfter(id) != petstore.Cursor(s) {
				t.Errorf("the cursor %q is read as %q", s, petstore.CursorAfter(id))
			}
		case petstore.CodeOf(err) != petstore.CodeInvalid:
			t.Errorf("the cursor %q: %v", s, err)
		}
	})
}
