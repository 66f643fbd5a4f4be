package httpapi_test

import (
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

// TestMessageTime: the record's time is in UTC, with a Z, for any zone of the
// queue's time.
func TestMessageTime(t *testing.T) {
	s := newServer(t, nil)
	at := time.Date(2026, 1, 2, 3, 4, 5, 120e6, time.FixedZone("", 3600))
	queue := double{message: petstore.Message{ID: "m", Text: "hello", Status: petstore.MessageQueued, CreatedAt: at}}
	s.h = httpapi.NewMessages(queue, testKeys, nil)
	s.want(want{status: 202, body: `{"id":"m","message":"hello","status":"queued","createdAt":"2026-01-02T02:04:05.12Z"}`}, post("/messages", messageBody))
}
