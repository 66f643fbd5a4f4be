package storagetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

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

// wantQueue fails unless the queue holds want.
func wantQueue(t *testing.T, f *fixture, want []petstore.Message) {
	t.Helper()
	got, err := f.QueuedMessages(t.Context(), petstore.MaxQueueLimit)
	if err != nil {
		t.Fatal(err)
	}
	if len(want) != 0 || len(got) != 0 {
		wantEqual(t, "the queue", want, got)
	}
	stats, err := f.Stats(t.Context())
	if err != nil || stats.QueuedMessages != int64(len(want)) {
		t.Errorf("Stats counts %d messages (%v), want %d", stats.QueuedMessages, err, len(want))
	}
}

func testQueue(t *testing.T, f *fixture) {
	wantQueue(t, f, nil)
	var sent []petstore.Message
	for _, text := range []string{"", "a", "a", "\x00", " spaces ", "🐈", strings.Repeat("long", 64<<10)} {
		made := f.clock.now()
		m := f.submit(t, text)
		if m.Text != text || m.Status != petstore.MessageQueued || m.ID == "" {
			t.Errorf("SubmitMessage(%.20q) gave %+.100v", text, m)
		}
		if want := petstore.MessageTime(made); !m.CreatedAt.Equal(want) || m.CreatedAt.Location() != time.UTC {
			t.Errorf("the message was created at %v, want %v", m.CreatedAt, want)
		}
		for _, other := range sent {
			if other.ID == m.ID {
				t.Errorf("two messages have the ID %s", m.ID)
			}
		}
		sent = append(sent, m)
		f.clock.advance(time.Hour)
	}
	wantQueue(t, f, sent)
	for _, limit := range []int{1, 3, len(sent)} {
		got, err := f.QueuedMessages(t.Context(), limit)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, fmt.Sprint("the first ", limit), sent[:limit], got)
	}
	for _, limit := range []int{0, -1, petstore.MaxQueueLimit + 1} {
		_, err := f.QueuedMessages(t.Context(), limit)
		wantCode(t, fmt.Sprint("QueuedMessages ", limit), err, petstore.CodeInvalid)
	}

	remove := func(ids ...string) {
		t.Helper()
		if err := f.RemoveMessages(t.Context(), ids...); err != nil {
			t.Fatal(err)
		}
	}
	remove()
	remove("", "unknown", sent[0].ID+"0", "msg_999", "msg_-1", "msg_01")
	wantQueue(t, f, sent)
	remove(sent[1].ID, sent[4].ID, sent[1].ID)
	left := slices.Delete(slices.Clone(sent), 4, 5)
	left = slices.Delete(left, 1, 2)
	wantQueue(t, f, left)
	remove(sent[1].ID)
	wantQueue(t, f, left)
	f.reopen(t)
	wantQueue(t, f, left)
	for _, m := range left {
		remove(m.ID)
	}
	wantQueue(t, f, nil)
	if m := f.submit(t, "again"); slices.ContainsFunc(sent, func(s petstore.Message) bool { return s.ID == m.ID }) {
		t.Errorf("the ID %s was used again", m.ID)
	}
}

func testQueueCapacity(t *testing.T, f *fixture) {
	f = newFixture(t, f.target, Options{QueueCapacity: 3})
	once := petstore.Once{Key: "k"}
	first, err := f.SubmitMessage(t.Context(), "first", once)
	if err != nil {
		t.Fatal(err)
	}
	f.submit(t, "second")
	f.submit(t, "third")
	_, err = f.SubmitMessage(t.Context(), "fourth", petstore.Once{Key: "4"})
	wantCode(t, "SubmitMessage to a full queue", err, petstore.CodeUnavailable)
	again, err := f.SubmitMessage(t.Context(), "first", once)
	if err != nil {
		t.Errorf("a repetition needs no room: %v", err)
	}
	wantEqual(t, "the first one again", first, again)
	f.create(t, petstore.NewPet{Name: "pets need none either"})
	if err := f.RemoveMessages(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := f.SubmitMessage(t.Context(), "fifth", petstore.Once{Key: "4"}); err != nil {
		t.Errorf("a refusal is not remembered: %v", err)
	}
}

func testCancelled(t *testing.T, f *fixture) {
	f.fill(t, 3)
	message := f.submit(t, "stays")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for what, call := range map[string]func() error{
		"GetPet":     func() error { _, err := f.GetPet(ctx, 1); return err },
		"ListPets":   func() error { _, err := f.ListPets(ctx, petstore.ListQuery{}); return err },
		"AppendPet":  func() error { _, err := f.AppendPet(ctx, nil, 1); return err },
		"AppendPage": func() error { _, _, err := f.AppendPage(ctx, nil, petstore.ListQuery{}); return err },
		"CreatePet":  func() error { _, err := f.CreatePet(ctx, petstore.NewPet{}, petstore.Once{}); return err },
		"Submit":     func() error { _, err := f.SubmitMessage(ctx, "", petstore.Once{}); return err },
		"Queued":     func() error { _, err := f.QueuedMessages(ctx, 1); return err },
		"Remove":     func() error { return f.RemoveMessages(ctx, message.ID) },
		"Stats":      func() error { _, err := f.Stats(ctx); return err },
	} {
		wantCode(t, what+" with a cancelled context", call(), petstore.CodeUnavailable)
	}
	f.wantPets(t, 3)
	wantQueue(t, f, []petstore.Message{message})

	// Cancelled at any moment, a creation is whole or absent, and one that
	// was acknowledged is there.
	acknowledged := map[int64]bool{}
	for i := range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			time.Sleep(time.Duration(i) * time.Microsecond)
			cancel()
		}()
		p := petstore.NewPet{CategoryID: int64(i), Status: petstore.StatusSold}
		if pet, err := f.CreatePet(ctx, p, petstore.Once{}); err == nil {
			acknowledged[pet.ID] = true
		}
		cancel()
	}
	for _, pet := range f.list(t, petstore.ListQuery{Status: petstore.StatusSold}) {
		delete(acknowledged, pet.ID)
	}
	if len(acknowledged) > 0 {
		t.Errorf("acknowledged and not there: %v", acknowledged)
	}
}

func testClosed(t *testing.T, f *fixture) {
	f.fill(t, 3)
	for range 2 {
		if err := f.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
	for what, call := range map[string]func() error{
		"GetPet":     func() error { _, err := f.GetPet(t.Context(), 1); return err },
		"ListPets":   func() error { _, err := f.ListPets(t.Context(), petstore.ListQuery{}); return err },
		"AppendPage": func() error { _, _, err := f.AppendPage(t.Context(), nil, petstore.ListQuery{}); return err },
		"CreatePet":  func() error { _, err := f.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{}); return err },
		"Queued":     func() error { _, err := f.QueuedMessages(t.Context(), 1); return err },
		"Remove":     func() error { return f.RemoveMessages(t.Context(), "msg_1") },
		"Stats":      func() error { _, err := f.Stats(t.Context()); return err },
	} {
		wantCode(t, what+" of a closed store", call(), petstore.CodeUnavailable)
	}
}

func testReopened(t *testing.T, f *fixture) {
	want := f.fill(t, 25)
	for range 3 {
		f.reopen(t)
		wantEqual(t, "after reopening", want, f.list(t, petstore.ListQuery{}))
		next := f.create(t, petstore.NewPet{Status: petstore.StatusPending})
		if next.ID != int64(len(want))+1 {
			t.Errorf("after reopening the next ID is %d, want %d", next.ID, len(want)+1)
		}
		want = append(want, next)
	}
}
