package httpapi_test

import (
	jsonv1 "encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// FuzzBody compares the decoder with a naive one: both accept the same bodies,
// with the same values, and an accepted one is returned unchanged. The suite sends others.
func FuzzBody(f *testing.F) {
	long := `"` + strings.Repeat("n", 30_000) + `"`
	for _, seed := range []string{
		rexBody, `{"\u006eame":"null","categoryId":-0,"status":"\u0073old"}`, `{"x":1e999999,"name":"日本\ud83d\udc15\u2028\u0000","categoryId":1}`,

		// Some are refused. An error repeats only a part of them.
		`{"x":{"y":1,"\u0079":2},"name":"","categoryId":0}`, `{"name":"\udc15","categoryId":1}`,
		`{` + long + `:1,` + long + `:1}`, `{` + long + `:{"x":tru}}`, `{"status":` + long + `}`,
		`{"name":"","categoryId":1` + strings.Repeat("0", 30_000) + `}`,
		`{"x":` + strings.Repeat("[", 50_000), `{"x":` + strings.Repeat(`{"`+strings.Repeat("~", 50)+`":`, 1000) + `?`,
	} {
		f.Add(seed)
	}
	h := httpapi.New(stub(nil), testKeys, nil)
	f.Fuzz(func(t *testing.T, body string) {
		got := send(t, h, post("/pets", body))
		pet, ok := naiveNewPet(body)
		if !ok {
			if diff := bad("").diff(got); diff != "" || len(got.Body) > 400 {
				t.Fatalf("%q (-want +got):\n%s", body, diff)
			}
			return
		}
		if returned, ok := naiveNewPet(got.Body); !ok || got.Status != 201 || returned != pet {
			t.Fatalf("%q: status %d %s, want %+v", body, got.Status, got.Body, pet)
		}
	})
}

// naiveNewPet decodes the body of createPet in the simplest way.
func naiveNewPet(body string) (p petstore.NewPet, ok bool) {
	var v struct {
		Name       *string        `json:"name"`
		CategoryID *int64         `json:"categoryId"`
		Status     jsontext.Value `json:"status"` // nil if there is none
	}
	// encoding/json accepts names given twice, invalid UTF-8 and lone surrogates.
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

// TestIdempotency: a repeated POST of an account, with any of its API keys, returns the first
// response and creates nothing. The tests of package client run those of every store.
func TestIdempotency(t *testing.T) {
	s := newServer(t, nil)
	const key = "Idempotency-Key: k"
	rex := func(id string) want {
		return want{status: 201, body: `{"id":` + id + `,` + rexBody[1:]}.with("Location", "pets/"+id)
	}
	s.want(rex("1"), post("/pets", rexBody, key), postBare("/pets", rexBody, "Authorization: Bearer key-2", isJSON, key),
		post("/pets", ` {"categoryId":1, "x":5, "name":"\u0072ex" } `, key)) // equal values in other bytes
	s.want(rex("2"), postBare("/pets", rexBody, "Authorization: Bearer key-3", isJSON, key)) // of another account
	s.want(rex("3"), post("/pets", rexBody, `Idempotency-Key: "k"`))                         // quotes are part of a key
}
