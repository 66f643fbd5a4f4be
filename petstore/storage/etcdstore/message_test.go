package etcdstore_test

import (
	"fmt"
	"slices"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// A queue can be read after messages were removed from its middle.
func TestQueueWithGaps(t *testing.T) {
	s := open(t, etcdstore.Config{Prefix: newPrefix(t)})
	var many []petstore.Message
	for i := range int64(1400) {
		many = append(many, petstore.Message{ID: petstore.MessageID(i + 1), Text: fmt.Sprint(i + 1)})
	}
	if err := s.ImportMessages(t.Context(), many, 0); err != nil {
		t.Fatal(err)
	}
	remove := func(messages ...petstore.Message) {
		t.Helper()
		var ids []string
		for _, m := range messages {
			ids = append(ids, m.ID)
		}
		if err := s.RemoveMessages(t.Context(), ids...); err != nil {
			t.Fatal(err)
		}
	}
	check := func(after int64, want ...string) {
		t.Helper()
		got, err := s.MessagesAfter(t.Context(), after, 3)
		var texts []string
		for _, m := range got {
			if texts = append(texts, m.Text); m.ID != "msg_"+m.Text {
				t.Errorf("the message %s has the text %q", m.ID, m.Text)
			}
		}
		if err != nil || !slices.Equal(want, texts) {
			t.Errorf("after %d the queue starts with %v (%v), want %v", after, texts, err, want)
		}
	}
	check(0, "1", "2", "3")
	check(256, "257", "258", "259")
	check(1398, "1399", "1400")
	check(1400)
	check(1<<63 - 1)
	next := 1
	for _, missing := range []int{0, 80} {
		for _, n := range []int{42, 61, 62, 65, 79, 80, 123, 124} { // with and without nested transactions
			messages := slices.Clone(many[next : next+n])
			for i := range missing {
				messages = append(messages, petstore.Message{ID: petstore.MessageID(int64(10_000 + i))})
			}
			remove(messages...)
			next += n
		}
	}
	remove(many[next:1399]...)
	check(0, "1", "1400")
	check(700, "1400")
	remove(many[0])
	check(0, "1400")
	remove(many[1399], many[3])
	check(0)
	if _, err := s.SubmitMessage(t.Context(), "1401", petstore.Once{}); err != nil {
		t.Fatal(err)
	}
	check(0, "1401")
}

// The last number of a message is the largest that JSON can carry everywhere.
func TestLastMessage(t *testing.T) {
	s := open(t, etcdstore.Config{Prefix: newPrefix(t)})
	if err := s.ImportMessages(t.Context(), nil, 1<<53); petstore.CodeOf(err) != petstore.CodeInvalid {
		t.Errorf("imported a number that is too large: %v", err)
	}
	last := petstore.Message{ID: petstore.MessageID(1<<53 - 1), Text: "last"}
	if err := s.ImportMessages(t.Context(), []petstore.Message{last}, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SubmitMessage(t.Context(), "one more", petstore.Once{}); petstore.CodeOf(err) != petstore.CodeFull {
		t.Errorf("submitted one more: %v", err)
	}
	if got, err := s.QueuedMessages(t.Context(), 2); err != nil || len(got) != 1 || got[0].Text != "last" {
		t.Errorf("the queue has %v (%v)", got, err)
	}
}
