package petstore_test

import (
	"math"
	"testing"
	"time"

	"example.com/animalstore/petstore"
)

// FuzzCursor: exactly the cursors that CursorAfter returns are accepted.
func FuzzCursor(f *testing.F) {
	for _, id := range []int64{1, 2, 1 << 53, math.MaxInt64} {
		f.Add(string(petstore.CursorAfter(id)))
	}
	f.Add("x")
	f.Add("")
	f.Add("YWZ0ZXIgMDE")                          // after 01
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

func TestCursor(t *testing.T) {
	for _, id := range []int64{1, 20, 1<<53 + 1, math.MaxInt64} {
		c := petstore.CursorAfter(id)
		if got, err := c.ID(); err != nil || got != id {
			t.Errorf("CursorAfter(%d) is read as %d, %v", id, got, err)
		}
	}
	for _, id := range []int64{0, -1} {
		if _, err := petstore.CursorAfter(id).ID(); err == nil {
			t.Errorf("a cursor after %d is accepted", id)
		}
	}
}

func TestMessageTime(t *testing.T) {
	at := time.Date(2026, 11, 20, 13, 0, 0, 120_999_999, time.FixedZone("", 3600))
	if got, want := petstore.MessageTime(at), time.Date(2026, 11, 20, 12, 0, 0, 120e6, time.UTC); got != want {
		t.Errorf("MessageTime(%v) = %v, want %v", at, got, want)
	}
}

func TestMessageID(t *testing.T) {
	for _, n := range []int64{1, 42, math.MaxInt64} {
		if got, ok := petstore.ParseMessageID(petstore.MessageID(n)); !ok || got != n {
			t.Errorf("MessageID(%d) is read as %d, %v", n, got, ok)
		}
	}
	for _, id := range []string{"", "msg_", "msg_0", "msg_-1", "msg_01", "msg_+1", "msg_1 ", "1", "MSG_1", "msg_9223372036854775808"} {
		if n, ok := petstore.ParseMessageID(id); ok {
			t.Errorf("%q is read as %d", id, n)
		}
	}
}

func TestDigest(t *testing.T) {
	seen := map[[32]byte]bool{}
	for _, o := range []petstore.Once{{Scope: "a", Key: "b"}, {Scope: "ab", Key: ""}, {Scope: "", Key: "ab"}, {Scope: "b", Key: "a"}} {
		for _, op := range []string{petstore.OnceCreatePet, petstore.OnceSubmitMessage} {
			if d := o.Digest(op); seen[d] {
				t.Errorf("%s of %+v has the digest of another", op, o)
			} else {
				seen[d] = true
			}
		}
	}
}
