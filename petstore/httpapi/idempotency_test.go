package httpapi_test

import (
	"strings"
	"testing"
)

// TestIdempotencyKeyForms: which forms of the field are keys, and which are the
// same key.
func TestIdempotencyKeyForms(t *testing.T) {
	const field = "Idempotency-Key: "
	long := strings.Repeat("k", 255)
	for _, c := range []struct {
		first, second string // the same key
	}{
		{"k", "k"},
		{"k", `"k"`},
		{"8e03978e-40d5-43dd-bc93-6894a57f9324", `"8e03978e-40d5-43dd-bc93-6894a57f9324"`},
		{long, `"` + long + `"`},
		{`a\b`, `"a\\b"`},
		{`a"b`, `"a\"b"`},
		{`"a b"`, `"a b"`},
		{`" "`, `" "`},
		{`"` + strings.Repeat(`\"`, 255) + `"`, `"` + strings.Repeat(`\"`, 255) + `"`},
		{"!#$%&'()*+,-./:;<=>?@[]^_`{|}~", "\"!#$%&'()*+,-./:;<=>?@[]^_`{|}~\""},
		{"  k2\t ", "k2"},
	} {
		s := newServer(t, nil)
		pet := want{status: 201, body: `{"id":1,"name":"rex","categoryId":1}`, header: map[string]string{"Location": "pets/1"}}
		s.run([]rawCase{
			{c.first, post("/pets", rexBody, field+c.first), pet},
			{c.second, post("/pets", rexBody, field+c.second), pet},
		})
		if n := s.stats(t).Pets; n != 1 {
			t.Errorf("%s, then %s: %d pets", c.first, c.second, n)
		}
	}

	s := newServer(t, nil)
	for name, fields := range map[string][]string{
		"empty":                {""},
		"empty string":         {`""`},
		"256 bytes":            {long + "k"},
		"256 bytes, quoted":    {`"` + long + `k"`},
		"60,000 bytes":         {strings.Repeat("k", 60_000)},
		"space":                {"a b"},
		"tab":                  {"a\tb"},
		"tab, quoted":          {"\"a\tb\""},
		"beyond ASCII":         {"k\xc3\xa9"},
		"beyond ASCII, quoted": {"\"k\xc3\xa9\""},
		"not closed":           {`"k`},
		"only a quote":         {`"`},
		"escaped close":        {`"k\"`},
		"backslash at the end": {`"k\`},
		"unknown escape":       {`"a\b"`},
		"text after the close": {`"k"x`},
		"parameter":            {`"k"; x=1`},
		"two strings":          {`"k", "l"`},
		"quotes doubled":       {`"k""l"`},
		"two fields":           {"k", "k"},
		"two fields, unlike":   {"k", "l"},
		"two fields, one none": {"", "k"},
	} {
		lines := []string{}
		for _, value := range fields {
			lines = append(lines, field+value)
		}
		s.run([]rawCase{
			{name, post("/pets", rexBody, lines...), bad("Idempotency-Key")},
			{name + ", message", post("/messages", `{"message":"m"}`, lines...), bad("Idempotency-Key")},
			{name + ", GET", get("/pets", lines...), want200}, // a GET ignores it
		})
	}
}

// TestIdempotency: a repeated POST returns the first response and creates nothing.
func TestIdempotency(t *testing.T) {
	s := newServer(t, nil)
	const key = "Idempotency-Key: k"
	const alice, successor, bob = authorized, "Authorization: Bearer key-2", "Authorization: Bearer key-3"
	rex := want{status: 201, body: `{"id":1,"name":"rex","categoryId":1}`, header: map[string]string{"Location": "pets/1"}}
	mismatch := want{status: 422, code: "idempotency_mismatch", says: "idempotency key"}
	create := func(credential, body string) string {
		return postBare("/pets", body, credential, isJSON, key)
	}
	s.run([]rawCase{
		{"refused first", create(alice, `{"name":"rex"}`), bad("categoryId")}, // is not remembered
		{"first", create(alice, rexBody), rex},
		{"again", create(alice, rexBody), rex},
		{"with the account's other key", create(successor, rexBody), rex},
		{"equal values, other bytes", create(alice, ` {"categoryId":1, "x":5, "name":"\u0072ex" } `), rex},
		{"another name", create(alice, `{"name":"tom","categoryId":1}`), mismatch},
		{"another category", create(alice, `{"name":"rex","categoryId":2}`), mismatch},
		{"with a status", create(alice, `{"name":"rex","categoryId":1,"status":"sold"}`), mismatch},
		{"bad body", create(alice, `{"name":"rex"`), bad("body")},
		{"after all of them", create(alice, rexBody), rex},
		{"another account", create(bob, rexBody), want{status: 201, body: `{"id":2,"name":"rex","categoryId":1}`}},
		{"no key", post("/pets", rexBody), want{status: 201, body: `{"id":3,"name":"rex","categoryId":1}`}},
		{"no key, again", post("/pets", rexBody), want{status: 201, body: `{"id":4,"name":"rex","categoryId":1}`}},
		{"another operation", post("/messages", `{"message":"m"}`, key), want{status: 202}},
		{"another message", post("/messages", `{"message":"n"}`, key), mismatch},
	})
	first := send(t, s.addr, post("/messages", `{"message":"m"}`, key))
	again := send(t, s.addr, post("/messages", `{"message":"m"}`, key))
	if first.status != 202 || again.status != 202 || first.body != again.body {
		t.Errorf("message repeated: %d %q, then %d %q", first.status, first.body, again.status, again.body)
	}
	if got := s.stats(t); got.Pets != 4 || got.QueuedMessages != 1 {
		t.Errorf("stored: %+v", got)
	}
}
