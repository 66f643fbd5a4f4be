package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// TestIdempotency: a repeated POST of an account returns the first response and creates
// nothing.
func TestIdempotency(t *testing.T) {
	s := newServer(t, nil)
	const key = "Idempotency-Key: k"
	rex := func(id string) want {
		return want{status: 201, body: `{"id":` + id + `,` + rexBody[1:]}.with("Location", "pets/"+id)
	}
	s.want(bad("categoryId"), post("/pets", `{"name":"rex"}`, key)) // is not remembered
	s.want(rex("1"), post("/pets", rexBody, key), postBare("/pets", rexBody, "Authorization: Bearer key-2", isJSON, key),
		post("/pets", ` {"categoryId":1, "x":5, "name":"\u0072ex" } `, key)) // equal values in other bytes
	s.want(rex("2"), postBare("/pets", rexBody, "Authorization: Bearer key-3", isJSON, key)) // of another account
	s.want(refused(422, "idempotency key"), post("/pets", `{"name":"tom","categoryId":1}`, key))
	s.want(rex("3"), post("/pets", rexBody))

	// The field must be given once. A GET ignores it.
	s.want(bad("Idempotency-Key"), post("/pets", rexBody, key, key), post("/messages", messageBody, "Idempotency-Key:", key))
	s.want(found, get("/pets", "Idempotency-Key:"), get("/pets", key, key))

	message := post("/messages", messageBody, key)
	s.want(want{status: 202, body: send(t, s.h, message).Body}, message, message)
}

func TestIdempotencyKey(t *testing.T) {
	long := strings.Repeat("k", 255)
	const punctuation = "!#$%&'()*+,-./:;<=>?@[]^_`{|}~"
	for _, c := range []struct{ field, key string }{ // no key: refused
		{"k", "k"}, {`"k"`, "k"}, {"a\"b", "a\"b"}, {`a\b`, `a\b`}, {punctuation, punctuation}, {`"` + punctuation + `"`, punctuation},
		{`"a\"b\\"`, `a"b\`}, {`" "`, " "}, {`"~!"`, "~!"}, {long, long}, {`"` + long + `"`, long}, {`"` + strings.Repeat(`\\`, 255) + `"`, strings.Repeat(`\`, 255)},

		{"", ""}, {`"`, ""}, {`""`, ""}, {`"a`, ""}, {"a b", ""}, {"\"a\tb\"", ""}, {`"k";x`, ""}, {`"k""l"`, ""}, {`"a\b"`, ""}, {`"k\"`, ""}, {`"k\`, ""},
		{"k\xc3\xa9", ""}, {"\"\x7f\"", ""}, {"\"\xc3\xa9\"", ""}, {"\x7f", ""}, {long + "k", ""}, {`"` + long + `k"`, ""},
	} {
		var once recorder[any]
		h := httpapi.New(double{do: func(_ context.Context, arg any) error { once.add(arg); return nil }}, testKeys, nil)
		r := httptest.NewRequest("POST", "/pets", strings.NewReader(rexBody))
		r.Header = http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {c.field}}
		got, want := perform(t, h, r), []any{petstore.Once{Scope: "alice", Key: c.key}}
		if c.key == "" {
			want = nil
		}
		if seen := once.take(); !slices.Equal(seen, want) || (got.Status == 400) != (c.key == "") {
			t.Errorf("%q: status %d, %+v, want the key %q", c.field, got.Status, seen, c.key)
		}
	}
}
