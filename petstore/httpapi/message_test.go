package httpapi_test

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

func TestSubmit(t *testing.T) {
	s := newServer(t, nil)
	form := regexp.MustCompile(`^\{"id":"[^"]+","message":".*","status":"queued","createdAt":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z"\}$`)
	ids := map[string]bool{}
	for _, c := range []struct{ send, text string }{
		{messageBody, "hello"},
		{`{"message":""}`, ""},
		{`{"id":"x","status":"sent","message":"hello","createdAt":null}`, "hello"},
		{`{"message":"\u0000\ud83d\udc15<&>\u2028"}`, "\x00🐕<&>\u2028"},
		{`{"message":"` + strings.Repeat("x", 60_000) + `"}`, strings.Repeat("x", 60_000)},
	} {
		r := send(t, s.h, post("/messages", c.send))
		if diff := accepted.with("Location", "").with("Deprecation", "").diff(r); diff != "" {
			t.Errorf("%.100q (-want +got):\n%.1000s", c.send, diff)
		}
		var m petstore.Message
		if err := json.Unmarshal([]byte(r.Body), &m); err != nil || !form.MatchString(r.Body) || m.Text != c.text || ids[m.ID] {
			t.Errorf("%.300q for %.300q, or an ID used before: %v", r.Body, c.send, err)
		}
		ids[m.ID] = true
	}
	if n := s.stats().QueuedMessages; n != 5 {
		t.Errorf("%d queued, want 5", n)
	}
}

// fixedQueue is a queue that returns the same record for every message.
type fixedQueue petstore.Message

func (m fixedQueue) SubmitMessage(context.Context, string, petstore.Once) (petstore.Message, error) {
	return petstore.Message(m), nil
}

// TestMessageTime: the record's time is in UTC, with a Z, for any zone of the
// queue's time.
func TestMessageTime(t *testing.T) {
	s := newServer(t, nil)
	for text, at := range map[string]time.Time{
		"2026-01-02T02:04:05Z":    time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600)),
		"2026-01-02T03:04:05.12Z": time.Date(2026, 1, 2, 3, 4, 5, 120e6, time.UTC),
	} {
		queue := fixedQueue{ID: "m", Text: "hello", Status: petstore.MessageQueued, CreatedAt: at}
		s.h = httpapi.NewMessages(queue, testKeys, nil)
		s.want(want{status: 202, body: `{"id":"m","message":"hello","status":"queued","createdAt":"` + text + `"}`}, post("/messages", messageBody))
	}
}
