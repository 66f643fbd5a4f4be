package storagetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/petstore"
)

func (f *fixture) submit(t *testing.T, text string, key petstore.IdempotencyKey) petstore.Message {
	t.Helper()
	m, err := f.SubmitMessage(t.Context(), text, key)
	if err != nil {
		t.Fatalf("SubmitMessage(%.50q): %v", text, err)
	}
	return m
}

func (f *fixture) remove(t *testing.T, ids ...string) {
	t.Helper()
	if err := f.RemoveMessages(t.Context(), ids...); err != nil {
		t.Fatalf("RemoveMessages(%q): %v", ids, err)
	}
}

// wantQueue fails unless the queue holds want.
func (f *fixture) wantQueue(t *testing.T, want ...petstore.Message) {
	t.Helper()
	got, err := f.QueuedMessages(t.Context(), petstore.MaxQueueLimit)
	if err != nil {
		t.Fatalf("QueuedMessages: %v", err)
	}
	wantEqual(t, fmt.Sprintf("%d messages from QueuedMessages, want %d", len(got), len(want)), want, got)
	if f.Statistics == nil {
		return
	}
	stats, err := f.Stats(t.Context())
	if err != nil || stats.QueuedMessages != int64(len(want)) {
		t.Fatalf("Stats counts %d messages (%v), want %d", stats.QueuedMessages, err, len(want))
	}
}

func testQueue(t *testing.T, f *fixture) {
	if f.Queue == nil {
		t.Skip("the store is not a petstore.Messages and petstore.Queue")
	}
	for _, text := range []string{"\xff", strings.Repeat("x", petstore.MaxTextBytes+1)} {
		_, err := f.SubmitMessage(t.Context(), text, noKey)
		wantCode(t, fmt.Sprintf("SubmitMessage(%.20q)", text), err, petstore.CodeInvalid)
	}
	var sent []petstore.Message
	ids := map[string]bool{"": true}
	submit := func(text string) {
		t.Helper()
		m := f.submit(t, text, noKey)
		want := petstore.Message{ID: m.ID, Text: text, Status: petstore.MessageQueued, CreatedAt: m.CreatedAt.UTC().Truncate(time.Millisecond)}
		if m != want || ids[m.ID] || m.CreatedAt.IsZero() {
			t.Fatalf("SubmitMessage(%.20q) returned %+.100v, want an ID of its own, the text, the status and a time, UTC to the millisecond", text, m)
		}
		ids[m.ID] = true
		sent = append(sent, m)
		time.Sleep(time.Millisecond) // so that the next one has another time
	}
	for _, text := range []string{"", "a", "a", "\x00", " spaces ", "🐈", strings.Repeat("x", petstore.MaxTextBytes)} {
		submit(text)
	}
	for _, limit := range []int{1, 3, len(sent)} {
		got, err := f.QueuedMessages(t.Context(), limit)
		if err != nil {
			t.Fatalf("QueuedMessages(%d): %v", limit, err)
		}
		wantEqual(t, fmt.Sprintf("QueuedMessages(%d)", limit), sent[:limit], got)
	}
	for _, limit := range []int{0, -1, petstore.MaxQueueLimit + 1} {
		_, err := f.QueuedMessages(t.Context(), limit)
		wantCode(t, fmt.Sprintf("QueuedMessages(%d)", limit), err, petstore.CodeInvalid)
	}

	f.remove(t)
	f.remove(t, "", "unknown", sent[0].ID+"0", "msg_999", "msg_-1", "msg_01")
	f.wantQueue(t, sent...)
	for range 2 {
		f.remove(t, "unknown", sent[1].ID, sent[4].ID, sent[1].ID)
		f.wantQueue(t, slices.Concat(sent[:1], sent[2:4], sent[5:])...)
		f.reopen(t)
	}
	for _, m := range sent {
		f.remove(t, m.ID)
	}
	f.wantQueue(t)

	// QueuedMessages ends early with the message that reaches petstore.MaxPageBytes, which
	// is twice petstore.MaxTextBytes.
	for _, n := range []int{petstore.MaxTextBytes, petstore.MaxTextBytes - 1, 1, 1} {
		submit(strings.Repeat("x", n))
	}
	if got, err := f.QueuedMessages(t.Context(), 4); err != nil || len(got) != 3 {
		t.Fatalf("QueuedMessages returned %d messages (%v), want the 3 that reach petstore.MaxPageBytes, %d", len(got), err, petstore.MaxPageBytes)
	}
}

func testCapacity(t *testing.T, f *fixture) {
	if f.Queue == nil || f.target.IgnoresQueueCapacity {
		t.Skip("the store ignores the capacity, or is not a petstore.Messages and petstore.Queue")
	}
	var sent []petstore.Message
	for i := range queueCapacity {
		sent = append(sent, f.submit(t, fmt.Sprint("message ", i), noKey))
	}
	key := petstore.IdempotencyKey{Key: "key"}
	_, err := f.SubmitMessage(t.Context(), "one more", key)
	wantCode(t, "SubmitMessage while the queue is full", err, petstore.CodeUnavailable)
	f.remove(t, sent[0].ID)
	sent = append(sent[1:], f.submit(t, "one more", key))
	f.submit(t, "one more", key) // the queue is full, and this adds nothing
	f.wantQueue(t, sent...)
}

func testMessageIdempotency(t *testing.T, f *fixture) {
	if f.Queue == nil {
		t.Skip("the store is not a petstore.Messages and petstore.Queue")
	}
	key := petstore.IdempotencyKey{Scope: "anna", Key: "key"}
	f.create(t, petstore.NewPet{}, key) // keys of pets and of messages are separate
	submit := func() (petstore.Message, error) { return f.SubmitMessage(t.Context(), "hello", key) }
	first := same(t, "SubmitMessage", submit)
	again := func() {
		t.Helper()
		time.Sleep(time.Millisecond) // a new one would have another time
		wantEqual(t, "SubmitMessage, repeated with its key", first, same(t, "SubmitMessage", submit))
	}
	again()
	_, err := f.SubmitMessage(t.Context(), "hello ", key)
	wantCode(t, "SubmitMessage, repeated with its key but another text,", err, petstore.CodeIdempotencyMismatch)
	f.wantQueue(t, first)
	f.remove(t, first.ID)
	again()
	f.reopen(t)
	again()
	f.wantQueue(t)
}
