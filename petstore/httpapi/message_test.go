package httpapi_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

func TestSubmit(t *testing.T) {
	s := newServer(t, nil)
	form := regexp.MustCompile(`^\{"id":"[^"]+","message":".*","status":"queued","createdAt":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z"\}$`)
	ids := map[string]bool{}
	for _, c := range []struct{ send, text string }{
		{`{"message":"hello"}`, "hello"},
		{`{"message":""}`, ""},
		{`{"id":"x","status":"sent","message":"hello","createdAt":null}`, "hello"},
		{`{"message":"\u0000\ud83d\udc15<&>\u2028"}`, "\x00🐕<&>\u2028"},
		{`{"message":"` + strings.Repeat("x", 900_000) + `"}`, strings.Repeat("x", 900_000)},
	} {
		a := send(t, s.addr, post("/messages", c.send))
		if err := a.check(want{status: 202, header: map[string]string{"Location": "", "Deprecation": ""}}); err != nil {
			t.Fatalf("%.100q: %v", c.send, err)
		}
		var m petstore.Message
		if err := json.Unmarshal([]byte(a.body), &m); err != nil || !form.MatchString(a.body) {
			t.Fatalf("%.300q: %v", a.body, err)
		}
		if m.Text != c.text || ids[m.ID] {
			t.Errorf("%.300q for %.300q, or an ID used before", a.body, c.send)
		}
		ids[m.ID] = true
	}
	if n := s.stats(t).QueuedMessages; n != 5 {
		t.Errorf("%d queued, want 5", n)
	}
}

func TestSubmitRefused(t *testing.T) {
	s := newServer(t, nil)
	var cases []rawCase
	for body, says := range map[string]string{
		"":                              "body: is missing",
		"null":                          "body: must be a JSON object",
		"[]":                            "body: must be a JSON object",
		`"hello"`:                       "body: must be a JSON object",
		"message=hello":                 "body: not valid JSON",
		"{}":                            "message: is missing",
		`{"Message":"hello"}`:           "message: is missing",
		`{"text":"hello"}`:              "message: is missing",
		`{"message":null}`:              "message: must be a string, not null",
		`{"message":5}`:                 "message: must be a string, not a number",
		`{"message":true}`:              "message: must be a string, not a boolean",
		`{"message":["hello"]}`:         "message: must be a string, not an array",
		`{"message":{}}`:                "message: must be a string, not an object",
		`{"message":"a","message":"a"}`: `"/message"`,
		`{"message":"a"`:                "byte 14",
		`{"message":"a"}x`:              "ends at byte 15",
		`{"message":"\ud800"}`:          "surrogate",
		"{\"message\":\"\xff\"}":        "UTF-8",
	} {
		cases = append(cases, rawCase{body, post("/messages", body), bad(says)})
	}
	s.run(cases)
}

// TestMessageTime: the record's time is in UTC, with a Z, for any zone of the
// queue's time.
func TestMessageTime(t *testing.T) {
	for _, c := range []struct {
		t    time.Time
		want string
	}{
		{time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600)), "2026-01-02T02:04:05Z"},
		{time.Date(2026, 1, 2, 3, 4, 5, 120e6, time.UTC), "2026-01-02T03:04:05.12Z"},
	} {
		queue := fixedQueue(petstore.Message{ID: "m", Text: "hello", Status: petstore.MessageQueued, CreatedAt: c.t})
		addr := listen(t, httpapi.NewMessages(queue, testKeys, nil))
		w := want{status: 202, body: `{"id":"m","message":"hello","status":"queued","createdAt":"` + c.want + `"}`}
		if err := send(t, addr, post("/messages", `{"message":"hello"}`)).check(w); err != nil {
			t.Error(err)
		}
	}
}

func TestQueueFull(t *testing.T) {
	store := memory.New(&memory.Options{QueueCapacity: 2})
	s := &server{t, store, listen(t, newHandler(store, testKeys, nil))}
	hello := post("/messages", `{"message":"hello"}`)
	keyed := post("/messages", `{"message":"hello"}`, "Idempotency-Key: k")
	full := want{status: 503, code: "unavailable", says: "full", header: map[string]string{"Retry-After": "1"}}
	s.run([]rawCase{
		{"first", hello, want{status: 202}},
		{"second", keyed, want{status: 202}},
		{"third", hello, full},
		{"repeated", keyed, want{status: 202}},
		{"pets do not queue", post("/pets", rexBody), want{status: 201}},
	})
}
