package httpapi_test

import (
	jsonv1 "encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// record passes r to h with a credential, without a server.
func record(t *testing.T, h http.Handler, r *http.Request) response {
	t.Helper()
	r.Header.Set("Authorization", "Bearer key-1")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return readResponse(t, w.Result())
}

// perform is record, and checks what must hold for every response of these tests: an Error body with 400 and above, and never 5xx.
func perform(t *testing.T, h http.Handler, r *http.Request) response {
	t.Helper()
	got := record(t, h, r)
	if diff := (want{status: got.Status}).diff(got); diff != "" || got.Status >= 500 || got.Status >= 400 && len(got.Body) > 1000 {
		t.Fatalf("%.1000s\n(-want +got):\n%s", got.Body, diff)
	}
	return got
}

// FuzzBody compares the decoder with a naive one: both accept the same bodies,
// with the same values, and an accepted one is returned unchanged.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		rexBody, `{"name":"\ud83d\udc15","categoryId":-0,"status":"sold","x":[1,{"y":null}]}`,
		`{"name":"a","name":"b","categoryId":1}`, `{"name":"a","categoryId":9223372036854775808}`,
		`{"name":"a","categoryId":1.0}`, `{"name":"\udc15","categoryId":1}`, "{\"name\":\"\xff\",\"categoryId\":1}",
		`{"name":null,"categoryId":1}`, `{}`, `null`, `[]`, "", " ", `{"name":"a","categoryId":1} {}`,
		`{"x":{"y":1,"\u0079":2},"name":"","categoryId":0}`, `{"name":"a","categoryId":1,"status":""}`,
	} {
		f.Add(seed)
	}
	h := httpapi.New(new(onceService), testKeys, nil)
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
