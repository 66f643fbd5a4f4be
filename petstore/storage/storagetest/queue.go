package storagetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/internal/members"
	"example.com/animalstore/petstore"
)

func (f *fixture) submit(t *testing.T, text string) petstore.Message {
	t.Helper()
	m, err := f.SubmitMessage(t.Context(), text, petstore.Once{})
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
func wantQueue(t *testing.T, f *fixture, want []petstore.Message) {
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

func testMessages(t *testing.T, f *fixture) {
	if f.Messages == nil {
		t.Skip("the store is not a petstore.Messages")
	}
	_, err := f.SubmitMessage(t.Context(), "\xff", petstore.Once{})
	wantCode(t, "SubmitMessage", err, petstore.CodeInvalid)
	f.submitAll(t)
}

// submitAll submits messages of all kinds.
func (f *fixture) submitAll(t *testing.T) (sent []petstore.Message) {
	t.Helper()
	for _, text := range []string{"", "a", "a", "\x00", " spaces ", "🐈", strings.Repeat("long", 64<<10)} {
		made := f.clock.now()
		m := f.submit(t, text)
		if m.Text != text || m.Status != petstore.MessageQueued || m.ID == "" {
			t.Fatalf("SubmitMessage(%.20q) returned %+.100v", text, m)
		}
		for name, without := range members.Without(m) {
			if without == m && m.Text != "" {
				t.Fatalf("SubmitMessage returned no %s", name)
			}
		}
		if m.CreatedAt != petstore.MessageTime(m.CreatedAt) {
			t.Fatalf("SubmitMessage returned CreatedAt %v, want UTC and milliseconds", m.CreatedAt)
		}
		if want := petstore.MessageTime(made); f.target.Strict && m.CreatedAt != want {
			t.Fatalf("SubmitMessage returned CreatedAt %v, want %v", m.CreatedAt, want)
		}
		for _, other := range sent {
			if other.ID == m.ID {
				t.Fatalf("SubmitMessage returned the ID %s twice", m.ID)
			}
		}
		sent = append(sent, m)
		f.clock.advance(time.Hour)
	}
	return sent
}

func testMessagesOnce(t *testing.T, f *fixture) {
	if f.Messages == nil {
		t.Skip("the store is not a petstore.Messages")
	}
	once := petstore.Once{Scope: "anna", Key: "key"}
	f.createOnce(t, petstore.NewPet{}, once) // a key is for a pet and for a message
	submit := func() (petstore.Message, error) { return f.SubmitMessage(t.Context(), "hello", once) }
	var first petstore.Message
	repeat := func() {
		t.Helper()
		f.clock.advance(time.Minute)
		for _, m := range concurrently(t, "SubmitMessage", submit) {
			if first.ID == "" {
				first = m
			}
			wantEqual(t, "SubmitMessage again", first, m)
		}
	}
	repeat()
	_, err := f.SubmitMessage(t.Context(), "hello ", once)
	wantCode(t, "SubmitMessage of another message with the same key", err, petstore.CodeMismatch)
	f.wantPets(t, 1)
	if f.Queue == nil {
		return
	}
	wantQueue(t, f, []petstore.Message{first})
	f.remove(t, first.ID)
	repeat() // after the message was removed
	wantQueue(t, f, nil)
	f.reopen(t)
	repeat()
	wantQueue(t, f, nil)
}

func testQueue(t *testing.T, f *fixture) {
	if f.Messages == nil || f.Queue == nil {
		t.Skip("the store is not a petstore.Messages and petstore.Queue")
	}
	wantQueue(t, f, nil)
	sent := f.submitAll(t)
	wantQueue(t, f, sent)
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
	wantQueue(t, f, sent)
	f.remove(t, sent[1].ID, sent[4].ID, sent[1].ID)
	remaining := slices.Delete(slices.Clone(sent), 4, 5)
	remaining = slices.Delete(remaining, 1, 2)
	wantQueue(t, f, remaining)
	f.remove(t, sent[1].ID)
	wantQueue(t, f, remaining)
	f.reopen(t)
	wantQueue(t, f, remaining)
	for _, m := range remaining {
		f.remove(t, m.ID)
	}
	wantQueue(t, f, nil)
	if m := f.submit(t, "again"); slices.ContainsFunc(sent, func(s petstore.Message) bool { return s.ID == m.ID }) {
		t.Fatalf("SubmitMessage used the ID %s again", m.ID)
	}
}

func testQueueCapacity(t *testing.T, f *fixture) {
	if f.Messages == nil || f.Queue == nil || !f.target.Strict {
		t.Skip("the store is not strict, with petstore.Messages and petstore.Queue")
	}
	f = newFixture(t, f.target, Options{QueueCapacity: 3})
	once := petstore.Once{Key: "k"}
	first, err := f.SubmitMessage(t.Context(), "first", once)
	if err != nil {
		t.Fatalf("SubmitMessage: %v", err)
	}
	f.submit(t, "second")
	f.submit(t, "third")
	_, err = f.SubmitMessage(t.Context(), "fourth", petstore.Once{Key: "4"})
	wantCode(t, "SubmitMessage to a full queue", err, petstore.CodeUnavailable)
	again, err := f.SubmitMessage(t.Context(), "first", once)
	if err != nil {
		t.Fatalf("SubmitMessage again, which needs no room: %v", err)
	}
	wantEqual(t, "SubmitMessage again", first, again)
	f.create(t, petstore.NewPet{Name: "pets need no room in the queue"})
	f.remove(t, first.ID)
	if _, err := f.SubmitMessage(t.Context(), "fifth", petstore.Once{Key: "4"}); err != nil {
		t.Fatalf("SubmitMessage after a refusal, which is not remembered: %v", err)
	}
}
