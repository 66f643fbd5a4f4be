package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// TestIdempotency: a repeated POST returns the first response and creates nothing.
func TestIdempotency(t *testing.T) {
	s := newServer(t, nil)
	const key = "Idempotency-Key: k"
	create := func(credential, body string) string { return postBare("/pets", body, credential, isJSON, key) }
	rex := want{status: 201, body: `{"id":1,` + rexBody[1:]}.with("Location", "pets/1")
	s.want(bad("categoryId"), create(authorized, `{"name":"rex"}`)) // is not remembered
	s.want(rex,
		create(authorized, rexBody), create(authorized, rexBody),
		create("Authorization: Bearer key-2", rexBody),                      // of the same account
		create(authorized, ` {"categoryId":1, "x":5, "name":"\u0072ex" } `)) // equal values in other bytes
	mismatch := refused(422, "idempotency key")
	s.want(mismatch,
		create(authorized, `{"name":"tom","categoryId":1}`), create(authorized, `{"name":"rex","categoryId":2}`),
		create(authorized, `{"name":"rex","categoryId":1,"status":"sold"}`))
	s.want(bad("body"), create(authorized, `{"name":"rex"`))
	s.want(rex, create(authorized, rexBody))
	s.want(want{status: 201, body: `{"id":2,` + rexBody[1:]}, create("Authorization: Bearer key-3", rexBody)) // of another account
	s.want(want{status: 201, body: `{"id":3,` + rexBody[1:]}, post("/pets", rexBody))
	s.want(want{status: 201, body: `{"id":4,` + rexBody[1:]}, post("/pets", rexBody))

	// The field must be given once. A GET ignores it.
	s.want(bad("Idempotency-Key"), post("/pets", rexBody, key, key), post("/pets", rexBody, key, "Idempotency-Key: l"), post("/messages", messageBody, "Idempotency-Key:", key))
	s.want(found, get("/pets", "Idempotency-Key:"), get("/pets", key, key))

	message := post("/messages", messageBody, key)
	first := send(t, s.h, message)
	s.want(want{status: 202, body: first.Body}, message, message)
	s.want(mismatch, post("/messages", `{"message":"n"}`, key))
	if got := s.stats(); got.Pets != 4 || got.QueuedMessages != 1 {
		t.Errorf("stored: %+v", got)
	}
}

// onceService records the Once of the last CreatePet.
type onceService struct {
	badPets
	once petstore.Once
}

func (s *onceService) CreatePet(_ context.Context, p petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
	s.once = once
	return petstore.Pet{ID: 1, NewPet: p}, nil
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
		service := new(onceService)
		r := httptest.NewRequest("POST", "/pets", strings.NewReader(rexBody))
		r.Header = http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {c.field}}
		got := perform(t, httpapi.New(service, testKeys, nil), r)
		want := petstore.Once{Scope: "alice", Key: c.key}
		if c.key == "" {
			want = petstore.Once{}
		}
		if service.once != want || (got.Status == 400) != (c.key == "") {
			t.Errorf("%q: status %d, %+v, want the key %q", c.field, got.Status, service.once, c.key)
		}
	}
}
