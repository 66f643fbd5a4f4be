package conformance_test

import (
	"strings"
	"time"
)

// brokenMessages are servers that break POST /v1/messages.
func brokenMessages() []broken {
	timed := func(text string) wrapper { return set(submit, 202, "createdAt", text) }
	began := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // see package synctest
	return []broken{
		{"a message gets 302", "messages.status", status(submit, 202, 302), nil},
		{"a record lacks its id", "messages.id", lacks(submit, 202, "id"), nil},
		{"every record has the same id", "messages.id.unique", set(submit, 202, "id", `"m-1"`), nil},
		{"the id of a record is the text", "messages.id.same-text", edit(submit, 202, `"id":"[^"]*"(.*"message":("[^"]*"))`, `"id":$2$1`), nil},
		{"a record has no text", "messages.text", lacks(submit, 202, "message"), nil},
		{"a record has a fixed text", "messages.echo", set(submit, 202, "message", `"Thank you"`), nil},
		{"the client sets the status of a record", "messages.queued", responses(submit, 202, func(res *response) {
			if strings.Contains(res.sent, "delivered") {
				res.body = strings.Replace(res.body, "queued", "delivered", 1)
			}
		}), nil},
		{"a record has no status", "messages.status-type", lacks(submit, 202, "status"), nil},
		{"the time is an HTTP date", "messages.time", timed(`"Sat, 21 Nov 2026 05:46:16 GMT"`), nil},
		{"the time is three hours ago", "messages.time.now", times(func(t time.Time) string { return t.Add(-3 * time.Hour).Format(time.RFC3339) }), nil},
		{"the time goes backwards", "messages.time.passes", times(func(t time.Time) string { return began.Add(began.Sub(t)).Format(time.RFC3339) }), nil},
		{"createdAt has the zone +0000", "messages.time.rfc3339", texts(submit, 202, "createdAt", replace("Z", "+0000")), nil},
		{"a number too large gets 500 with a message", "messages.no-5xx", status(submit+".*1e400", 400, 500), nil},
	}
}
