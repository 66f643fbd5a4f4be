package httpapi_test

import (
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// TestSubmit: the record's time is in UTC, with a Z, for any zone of the queue's time.
func TestSubmit(t *testing.T) {
	s := newServer(t, nil)
	message := petstore.Message{ID: "m", Status: petstore.MessageQueued, CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 120e6, time.FixedZone("", 3600))}
	for body, text := range map[string]string{
		messageBody:      "hello",
		`{"message":""}`: "",
		`{"id":"x","status":"sent","message":"hello","createdAt":null}`: "hello",
		`{"message":"\u0000\ud83d\udc15<&>"}`:                           `\u0000🐕<&>`,
	} {
		s.h = httpapi.NewMessages(double{message: message}, testKeys, nil)
		record := `{"id":"m","message":"` + text + `","status":"queued","createdAt":"2026-01-02T02:04:05.12Z"}`
		s.want(want{status: 202, body: record}.with("Location", "").with("Deprecation", ""), post("/messages", body))
	}
}
