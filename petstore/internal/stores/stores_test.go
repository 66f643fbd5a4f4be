package stores_test

import (
	"math"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/stores"
)

func TestMessageTime(t *testing.T) {
	at := time.Date(2026, 11, 20, 13, 0, 0, 120_999_999, time.FixedZone("", 3600))
	if got, want := stores.MessageTime(at), time.Date(2026, 11, 20, 12, 0, 0, 120e6, time.UTC); got != want {
		t.Errorf("MessageTime(%v) = %v, want %v", at, got, want)
	}
}

func TestMessageID(t *testing.T) {
	for _, n := range []int64{1, 42, math.MaxInt64} {
		if got, ok := stores.ParseMessageID(stores.MessageID(n)); !ok || got != n {
			t.Errorf("MessageID(%d) is read as %d, %v", n, got, ok)
		}
	}
	for _, id := range []string{"", "msg_", "msg_0", "msg_-1", "msg_01", "msg_+1", "msg_1 ", "1", "MSG_1", "msg_9223372036854775808"} {
		if n, ok := stores.ParseMessageID(id); ok {
			t.Errorf("%q is read as %d", id, n)
		}
	}
}

func TestDigest(t *testing.T) {
	seen := map[[32]byte]bool{}
	for _, key := range []petstore.IdempotencyKey{{Scope: "a", Key: "b"}, {Scope: "ab", Key: ""}, {Scope: "", Key: "ab"}, {Scope: "b", Key: "a"}} {
		for _, op := range []string{stores.CreatePet, stores.SubmitMessage} {
			if d := stores.Digest(op, key); seen[d] {
				t.Errorf("%s of %+v has the digest of another", op, key)
			} else {
				seen[d] = true
			}
		}
	}
}
