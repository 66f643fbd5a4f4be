package httpapi_test

import (
	"context"
	jsonv1 "encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// FuzzBody compares the decoder with a naive one: both accept the same bodies,
// with the same values, and an accepted one is returned unchanged.
func FuzzBody(f *testing.F) {
	long := `"` + strings.Repeat("n", 30_000) + `"`
	for _, seed := range []string{
		rexBody, `{"categoryId":1,"name":"rex"}`, `{"status":"pending","name":"rex","categoryId":1}`,
		" \t\r\n{ \"name\" : \"rex\" , \"categoryId\" : 1 } \r\n", `{"\u006eame":"rex","categoryId":1,"status":"\u0073old"}`,

		// Names are any strings, and categories any int64.
		`{"name":"","categoryId":0}`, `{"name":" rex ","categoryId":-0}`, `{"name":"<b>&amp;\/","categoryId":-7}`, `{"name":"null","categoryId":9007199254740993}`,
		`{"name":"\"\\\u0000\u001f\u007f\n","categoryId":9223372036854775807}`, `{"name":"日本\ud83d\udc15\u2028","categoryId":-9223372036854775808}`,
		`{"name":"e\u0301` + strings.Repeat("🐕\\\"", 5_000) + `","categoryId":1}`,

		// Unknown members are ignored, with any value.
		`{"id":99,"name":"u","categoryId":1}`, `{"id":"x","":null,"name ":1,"name":"u","categoryId":1}`, `{"x":1e999999,"name":"u","categoryId":1}`,
		`{"Name":5,"NAME":null,"name":"u","categoryId":1,"categoryid":"x","Status":"x"}`,
		`{"x":{"name":5,"a":[{},[],null,true,1.5e300,"y"]},"name":"u","categoryId":1}`,
		`{"x":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `,"name":"u","categoryId":1}`,

		// Some are refused. An error repeats only a part of them.
		`{"name":"a","categoryId":1.0}`, `{"x":{"y":1,"\u0079":2},"name":"","categoryId":0}`, `{"name":"\udc15","categoryId":1}`,
		`{` + long + `:1,` + long + `:1}`, `{` + long + `:{"x":tru}}`, `{` + long + `:"\ud800"}`, `{"status":` + long + `}`, `{` + long[1:] + `:1}`,
		`{"name":1` + long[1:1000] + `}`, `{"name":"","categoryId":1` + strings.Repeat("0", 30_000) + `}`,
		`{"x":` + strings.Repeat("[", 50_000), `{"x":` + strings.Repeat(`{"`+strings.Repeat("~", 50)+`":`, 1000) + `?`,
	} {
		f.Add(seed)
	}
	h := httpapi.New(stub(nil), testKeys, nil)
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequest("POST", "/pets", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		got := perform(t, h, r)
		pet, ok := naiveNewPet(body)
		if !ok {
			if got.Status != 400 {
				t.Fatalf("%q: status %d, want 400: %s", body, got.Status, got.Body)
			}
			return
		}
		if returned, ok := naiveNewPet(got.Body); !ok || got.Status != 201 || returned != pet {
			t.Fatalf("%q: status %d %s, want %+v", body, got.Status, got.Body, pet)
		}
	})
}

// naiveNewPet decodes the body of createPet in the simplest way. Unlike the decoder
// under test it does not say what is wrong.
func naiveNewPet(body string) (p petstore.NewPet, ok bool) {
	var v struct {
		Name       *string        `json:"name"`
		CategoryID *int64         `json:"categoryId"`
		Status     jsontext.Value `json:"status"` // nil if there is none
	}
	// The JSON package refuses names given twice, invalid UTF-8 and lone
	// surrogates; encoding/json is a second opinion on the rest.
	if json.Unmarshal([]byte(body), &v) != nil || !jsonv1.Valid([]byte(body)) || v.Name == nil || v.CategoryID == nil {
		return p, false
	}
	p = petstore.NewPet{Name: *v.Name, CategoryID: *v.CategoryID}
	if v.Status == nil {
		return p, true
	}
	err := json.Unmarshal(v.Status, &p.Status)
	return p, err == nil && slices.Contains(petstore.Statuses(), p.Status)
}

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
		service := stub(nil)
		service.DoSubmitMessage = func(_ context.Context, text string, _ petstore.IdempotencyKey) (petstore.Message, error) {
			message.Text = text
			return message, nil
		}
		s.h = httpapi.New(nil, testKeys, &httpapi.Options{Messages: service})
		record := `{"id":"m","message":"` + text + `","status":"queued","createdAt":"2026-01-02T02:04:05.120Z"}`
		s.want(want{status: 202, body: record}.with("Location", "").with("Deprecation", ""), post("/messages", body))
	}
}

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
	long := strings.Repeat("k", 512)
	for field, ok := range map[string]bool{
		"k": true, `"k"`: true, "!#$%&'()*+,-./:;<=>?@[]^_`{|}~": true, `"a b"`: true, long: true,
		"": false, `"`: false, `""`: false, "a\tb": false, "k\xc3\xa9": false, "\x7f": false, long + "k": false,
	} {
		var keys recorder[any]
		h := httpapi.New(stub(func(_ context.Context, arg any) error { keys.add(arg); return nil }), testKeys, nil)
		r := httptest.NewRequest("POST", "/pets", strings.NewReader(rexBody))
		r.Header = http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {field}}
		got, want := perform(t, h, r), []any{petstore.IdempotencyKey{Scope: "alice", Key: field}}
		if !ok {
			want = nil
		}
		if seen := keys.take(); !slices.Equal(seen, want) || (got.Status == 400) == ok {
			t.Errorf("%q: status %d, %+v", field, got.Status, seen)
		}
	}
}
