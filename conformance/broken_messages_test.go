package conformance_test

import (
	"strings"
	"time"
)

// brokenMessages are servers that break POST /v1/messages.
func brokenMessages() []variant {
	timed := func(text string) wrapper { return set(submit, 202, "createdAt", text) }
	began := time.Now().UTC()
	return []variant{
		{name: "a message gets 302", check: "messages.status", http: status(submit, 202, 302)},
		{name: "a record lacks its id", check: "messages.id", http: lacks(submit, 202, "id")},
		{name: "a record has a number as id", check: "messages.id", http: set(submit, 202, "id", "7")},
		{name: "every record has the same id", check: "messages.id.unique", http: set(submit, 202, "id", `"m-1"`)},
		{name: "the id of a record is the text", check: "messages.id.same-text", http: edit(submit, 202, `"id":"[^"]*"(.*"message":("[^"]*"))`, `"id":$2$1`)},
		{name: "a record has no text", check: "messages.text", http: lacks(submit, 202, "message")},
		{name: "a record has a fixed text", check: "messages.echo", http: set(submit, 202, "message", `"Thank you"`)},
		{name: "the client sets the status of a record", check: "messages.queued", http: responses(submit, 202, func(res *response) {
			if strings.Contains(res.sent, "delivered") {
				res.body = strings.Replace(res.body, "queued", "delivered", 1)
			}
		})},
		{name: "a record is QUEUED", check: "messages.queued", http: set(submit, 202, "status", `"QUEUED"`)},
		{name: "a record has no status", check: "messages.status-type", http: lacks(submit, 202, "status")},
		{name: "a record has no time", check: "messages.time", http: lacks(submit, 202, "createdAt")},
		{name: "the time is an HTTP date", check: "messages.time", http: timed(`"Sat, 21 Nov 2026 05:46:16 GMT"`)},
		{name: "the time is three hours ago", check: "messages.time.now", http: times(func(t time.Time) string { return t.Add(-3 * time.Hour).Format(time.RFC3339) })},
		{name: "the time goes backwards", check: "messages.time.passes", http: times(func(t time.Time) string { return began.Add(began.Sub(t)).Format(time.RFC3339) })},
		{name: "the time goes ten thousand times too fast", check: "messages.time.now", http: times(func(t time.Time) string { return began.Add(10_000 * t.Sub(began)).Format(time.RFC3339) })},
	}
}
