package httpapi_test

import (
	"context"
	"regexp"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

func TestSubmit(t *testing.T) {
	s := newServer(t, nil)
	form := regexp.MustCompile(`^\{"id":"msg_\d+","message":(".*"),"status":"queued","createdAt":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z"\}$`)
	for body, text := range map[string]string{
		messageBody:      `"hello"`,
		`{"message":""}`: `""`,
		`{"id":"x","status":"sent","message":"hello","createdAt":null}`: `"hello"`,
		`{"message":"\u0000\ud83d\udc15<&>"}`:                           `"\u0000🐕<&>"`,
	} {
		r := send(t, s.h, post("/messages", body))
		diff := accepted.with("Location", "").with("Deprecation", "").diff(r)
		if m := form.FindStringSubmatch(r.Body); diff != "" || m == nil || m[1] != text {
			t.Errorf("%s: %s (-want +got):\n%s", body, r.Body, diff)
		}
	}
	if n := s.stats().QueuedMessages; n != 4 {
		t.Errorf("%d queued, want 4", n)
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
