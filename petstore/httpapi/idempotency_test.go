package httpapi_test

import (
	"context"
	"net/http/httptest"
	"regexp"
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

// FuzzIdempotencyKey checks that exactly printable ASCII can be a key in quotes,
// and that a field is either the key itself or the key in quotes.
func FuzzIdempotencyKey(f *testing.F) {
	for _, seed := range []string{"", "k", `"k"`, `"`, `""`, `"a\"b\\"`, `"a`, `a"b`, "a b", "\"a\tb\"", `"k";x`, `"k""l"`, `a\b`, `"a\b"`, `"k\"`, `"k\`, "k\xc3\xa9", `" "`,
		"!#$%&'()*+,-./:;<=>?@[]^_`{|}~", strings.Repeat("k", 255), strings.Repeat("k", 256), strings.Repeat(`"`, 255)} {
		f.Add(seed)
	}
	printable := regexp.MustCompile(`^[ -~]{1,255}$`)
	bare := regexp.MustCompile(`^[!#-~][!-~]{0,254}$`)
	quote := func(key string) string {
		return `"` + strings.ReplaceAll(strings.ReplaceAll(key, `\`, `\\`), `"`, `\"`) + `"`
	}
	// use returns the key that a field is read as; "": it is refused.
	use := func(t *testing.T, field string) string {
		service := new(onceService)
		r := httptest.NewRequest("POST", "/pets", strings.NewReader(rexBody))
		r.Header.Set("Content-Type", "application/json")
		r.Header["Idempotency-Key"] = []string{field}
		got := perform(t, httpapi.New(service, testKeys, nil), r)
		if accepted := got.Status == 201; !accepted && got.Status != 400 || accepted && service.once.Scope != "alice" {
			t.Fatalf("%q: status %d, %+v", field, got.Status, service.once)
		}
		return service.once.Key
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := ""
		if printable.MatchString(s) {
			want = s
		}
		if key := use(t, quote(s)); key != want {
			t.Fatalf("%q is read as the key %q, want %q", quote(s), key, want)
		}
		if key := use(t, s); bare.MatchString(s) && key != s || !bare.MatchString(s) && key != "" && quote(key) != s {
			t.Fatalf("%q is read as the key %q", s, key)
		}
	})
}
